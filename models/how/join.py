"""Makes one model of two: `join.py MULTILINGUAL ENGLISH CORPUS OUT`.

A text's vector is the sum of the rows of its pieces in both vocabularies, so both tables must be in one space. They are laid side by side
and turned onto the 256 directions that matter most for texts; then the rows are moved a little so that code is near to what is said
of it, and pieces that others can stand for are left out.
"""

import json
import random
import re
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

DIMS = 256
# How much of a text's square length is the English part's, at first.
ENGLISH = 0.45
# Multilingual pieces that are left out.
LEFT_OUT = 12_000
# Learning: steps of so many pairs; how sharp the choice among them is; how fast; and how hard rows are held where they were. The
# multilingual ones are held harder, because no pair here says which English word is which Chinese one.
STEPS, BATCH, TEMPERATURE, RATE, HELD = 400, 512, 0.1, 0.01, (10.0, 1.0)

ABOUT = {
    "name": "static-multilingual",
    "licence": "MIT AND Apache-2.0",
    "provenance": "Distilled from multilingual-e5-small (MIT) and all-MiniLM-L6-v2 (Apache-2.0) by the TotalRecall authors; see models/README.md",
    "bits": "4",
}


class Table:
    """A vocabulary and its rows."""

    def __init__(self, folder: Path):
        self.json = json.loads((folder / "tokenizer.json").read_text())
        self.rows = load_file(folder / "model.safetensors")["embeddings"].astype(np.float32)
        self.use()

    def use(self) -> None:
        self.tokenizer = Tokenizer.from_str(json.dumps(self.json))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def pieces(self) -> list[str]:
        vocabulary = self.json["model"]["vocab"]
        if isinstance(vocabulary, dict):
            return sorted(vocabulary, key=vocabulary.get)
        return [piece for piece, _ in vocabulary]

    def counts(self, texts: list[str]) -> sparse.csr_matrix:
        """How often each piece is in each text."""
        cut = [[i for i in e.ids if i > 1] for e in self.tokenizer.encode_batch(texts, add_special_tokens=False)]
        columns = np.concatenate([np.array(ids, np.int32) for ids in cut])
        starts = np.concatenate([[0], np.cumsum([len(ids) for ids in cut])])
        ones = np.ones(len(columns), np.float32)
        return sparse.csr_matrix((ones, columns, starts), shape=(len(cut), len(self.rows)))

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(json.dumps(self.json, ensure_ascii=False))
        save_file({"embeddings": self.rows}, folder / "model.safetensors")


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


def only_english(table: Table) -> None:
    """The other part knows better what else there is; here it would only be noise."""
    for number, piece in enumerate(table.pieces()):
        text = piece.removeprefix("##")
        if any(ord(c) >= 0x250 for c in text) or not any(c.isalpha() for c in text):
            table.rows[number] = 0


def turn(tables: list[Table], kinds: list[list[str]]) -> None:
    """Brings both tables into one space: the principal directions of the texts of all kinds, each kind counting the same."""
    counts = [[table.counts(texts) for table in tables] for texts in kinds]
    length = [np.linalg.norm(prose @ table.rows, axis=1).mean() for prose, table in zip(counts[0], tables)]
    tables[0].rows *= (1 - ENGLISH) ** 0.5
    tables[1].rows *= ENGLISH**0.5 * length[0] / length[1]
    second = 0
    for many, few in counts:
        texts = unit(np.hstack([many @ tables[0].rows, few @ tables[1].rows]))
        second = second + texts.T @ texts / len(texts)
    _, _, directions = np.linalg.svd(second)
    half = tables[0].rows.shape[1]
    tables[0].rows = tables[0].rows @ directions[:DIMS, :half].T
    tables[1].rows = tables[1].rows @ directions[:DIMS, half:].T
    # Rows of about length 1, so that a step of learning means the same whatever the teachers' scales.
    scale = np.linalg.norm(tables[0].rows, axis=1).mean()
    for table in tables:
        table.rows /= scale


def cut_otherwise(piece: str, scores: dict[str, float], longest: int) -> list[str]:
    """The most probable way to make a piece of others."""
    best = [(0.0, 0, "")] + [(-np.inf, 0, "")] * len(piece)
    for start in range(len(piece)):
        for end in range(start + 1, min(len(piece), start + longest) + 1):
            part = piece[start:end]
            score = best[start][0] + (scores[part] if part in scores and part != piece else -np.inf)
            # A character that is no piece is passed over.
            score = max(score, best[start][0] - 30.0) if end == start + 1 else score
            if score > best[end][0]:
                best[end] = (score, start, part)
    parts, end = [], len(piece)
    while end > 0:
        parts.append(best[end][2])
        end = best[end][1]
    return [part for part in parts if part in scores]


def leave_out(table: Table, count: int) -> None:
    """Removes the pieces without which texts come out nearly the same: rare ones, and those that mean what their parts do."""
    vocabulary = table.json["model"]["vocab"]
    scores = {piece: score for piece, score in vocabulary[3:]}
    numbers = {piece: number for number, (piece, _) in enumerate(vocabulary)}
    longest = max(map(len, scores))
    loss = np.full(len(vocabulary), np.inf)
    for piece, score in scores.items():
        if len(piece.lstrip("▁")) > 1:
            parts = [numbers[part] for part in cut_otherwise(piece, scores, longest)]
            difference = table.rows[numbers[piece]] - table.rows[parts].sum(0)
            loss[numbers[piece]] = np.exp(score) * (difference**2).sum()
    kept = np.ones(len(vocabulary), bool)
    kept[np.argsort(loss)[:count]] = False
    # `<mask>` stands for no text.
    kept[2] = False
    table.json["model"]["vocab"] = [entry for entry, keep in zip(vocabulary, kept) if keep]
    table.rows = table.rows[kept]
    table.use()


def learn(tables: list[Table], said: list[str], shown: list[str]) -> None:
    """Moves rows so that of a batch each text is nearer to its own than to the others' (InfoNCE, both ways), by Adam on the rows
    that occur, with one step size a row."""
    said, shown = ([table.counts(texts) for table in tables] for texts in (said, shown))
    first = [table.rows.copy() for table in tables]
    alive = [np.linalg.norm(rows, axis=1) > 0 for rows in first]
    mean = [np.zeros_like(rows) for rows in first]
    square = [np.zeros((len(rows), 1), np.float32) for rows in first]
    chance, order = np.random.default_rng(0), np.zeros(0, int)
    for step in range(1, STEPS + 1):
        if len(order) < BATCH:
            order = chance.permutation(said[0].shape[0])
        batch, order = order[:BATCH], order[BATCH:]
        counts = [[each[batch] for each in side] for side in (said, shown)]
        sums = [sum(each @ table.rows for each, table in zip(side, tables)) for side in counts]
        lengths = [np.linalg.norm(side, axis=1, keepdims=True) + 1e-6 for side in sums]
        (a, b) = units = [side / length for side, length in zip(sums, lengths)]
        likeness = np.exp((a @ b.T - 1) / TEMPERATURE)
        pull = likeness / likeness.sum(1, keepdims=True) + likeness / likeness.sum(0, keepdims=True)
        pull = (pull / 2 - np.eye(BATCH)) / TEMPERATURE
        slopes = []
        for slope, side, length in zip((pull @ b, pull.T @ a), units, lengths):
            slopes.append((slope - side * (slope * side).sum(1, keepdims=True)) / length)
        slopes = np.vstack(slopes).astype(np.float32)
        rate = RATE * min(1, step / 50) * (1 - step / (STEPS + 1))
        for part, table in enumerate(tables):
            occurring = sparse.vstack([counts[0][part], counts[1][part]]).tocsc()
            rows = np.flatnonzero(np.diff(occurring.indptr))
            rows = rows[alive[part][rows]]
            slope = occurring[:, rows].T @ slopes + HELD[part] * (table.rows[rows] - first[part][rows])
            mean[part][rows] = 0.9 * mean[part][rows] + 0.1 * slope
            square[part][rows] = 0.99 * square[part][rows] + 0.01 * (slope**2).mean(1, keepdims=True)
            table.rows[rows] -= rate * mean[part][rows] / (np.sqrt(square[part][rows]) + 1e-6)


def only_words(table: Table) -> None:
    """Marks and blanks mean nothing: else all texts in a script that is not known would be alike, as nothing but these is known."""
    for number, piece in enumerate(table.pieces()):
        if not any(c.isalnum() for c in piece):
            table.rows[number] = 0


def sentences(paragraphs: list[str]) -> list[tuple[str, str]]:
    """A sentence of each paragraph, and the rest of it."""
    chance, found = random.Random(3), []
    for paragraph in paragraphs:
        parts = [part for part in re.split(r"(?<=[.!?:])\s+", paragraph) if len(part) > 25]
        if len(parts) >= 3:
            taken = chance.randrange(len(parts))
            found.append((parts[taken], " ".join(parts[:taken] + parts[taken + 1 :])))
    return found


def main(multilingual: Path, english: Path, corpus: Path, out: Path) -> None:
    corpus = json.loads(corpus.read_text())
    tables = [Table(multilingual), Table(english)]
    only_english(tables[1])
    said, shown = ([pair[side] for pair in corpus["pairs"]] for side in (0, 1))
    pieces = tables[0].pieces()[3:]
    chinese = [piece.lstrip("▁") for piece in pieces if any(ord(c) > 0x3000 for c in piece)]
    words = [piece[1:] for piece in pieces if piece.startswith("▁") and len(piece) > 2 and not ord(piece[-1]) > 0x3000]
    turn(tables, [corpus["prose"], said, shown, chinese, words + chinese])
    # Twice, because there are few of them.
    pairs = corpus["pairs"] + 2 * sentences(corpus["prose"])
    learn(tables, [a for a, _ in pairs], [b for _, b in pairs])
    leave_out(tables[0], LEFT_OUT)
    only_words(tables[0])
    for table, name in zip(tables, ["1-multilingual", "2-english"]):
        table.save(out / name)
    (out / "about.json").write_text(json.dumps(ABOUT, indent=2) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
