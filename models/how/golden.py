"""What the reference says to a few texts: `golden.py JOINED > retrieval/tests/golden/model.json`. JOINED is what join.py wrote."""

import json
import sys
from pathlib import Path

import numpy as np
from join import Table, unit

TEXTS = [
    "How do I retry a failed request?",
    "请求失败后如何重试?",
    "リクエストが失敗したら再試行する",
    "for attempt in range(3):\n    try:\n        return session.get(url)\n    except ConnectionError:\n        time.sleep(2 ** attempt)",
    "Ｆｕｌｌ　ｗｉｄｔｈ, naïve café, ﬁne — «quoted» “text”… 1,234.56 €",
    "fn parseHTTPHeader(raw: &str) -> Result<HeaderMap, ParseError>",
    "我们把数据库从 MySQL 迁移到 PostgreSQL 16。",
    "We moved the database from MySQL to PostgreSQL 16.",
    "x" * 300 + " endless",
    "Où est la clé de la base de données ?",
]

tables = [Table(Path(sys.argv[1]) / name) for name in ("1-multilingual", "2-english")]
vectors = unit(sum(table.counts(TEXTS) @ table.rows for table in tables))
cosines = (vectors @ vectors.T).astype(np.float64).round(4).tolist()
json.dump({"texts": TEXTS, "cosines": cosines}, sys.stdout, ensure_ascii=False, indent=1)
print()
