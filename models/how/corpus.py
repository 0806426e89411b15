"""Gathers what a model can learn from: `corpus.py FOLDER… > corpus.json`.

From sources in Python and Rust: what a function or type is said to do, in a sentence, and its code. From Markdown: paragraphs.
"""

import ast
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Descriptions, in characters: shorter ones say nothing, longer ones are no questions.
DESCRIPTION = range(13, 200)
# Code is cut there.
LONGEST = 1_200

RUST = re.compile(
    r"((?:[ \t]*///[^\n]*\n)+)(?:[ \t]*#\[[^\n]*\n)*"
    r"(([ \t]*)pub(?:\([a-z]+\))? (?:const |unsafe |async )*(?:fn|struct|enum|trait)[^\n]*\n(?:[^\n]*\n){0,14})"
)


def python(text: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not (said := ast.get_docstring(node)):
            continue
        description = re.split(r"(?<=[.!?])\s|\n\s*\n", said)[0].replace("\n", " ").strip()
        first = node.body[0]
        head = "\n".join(lines[node.lineno - 1 : first.lineno - 1])
        body = "\n".join(lines[first.end_lineno : node.end_lineno])
        if len(body) < 40:
            continue
        # Code is met with what else is said of it, and without.
        more = said[len(description) :].strip()[:400]
        yield description, f'{head}\n"""{more}"""\n{body}' if more and chance.random() < 0.5 else f"{head}\n{body}"


def rust(text: str) -> Iterator[tuple[str, str]]:
    for comment, code, indent in RUST.findall(text):
        said = " ".join(line.strip()[3:].strip() for line in comment.strip().split("\n"))
        end = re.search(rf"\n{indent}\}}[^\n]*\n", code)
        yield re.split(r"(?<=[.!?])\s|# |```", said)[0].strip(), code[: end.end()] if end else code


def main(folders: list[str]) -> None:
    chance = random.Random(0)
    pairs: dict[str, str] = {}
    prose: dict[str, None] = {}
    for file in sorted(file for folder in folders for file in Path(folder).rglob("*")):
        if file.suffix not in (".py", ".rs", ".md") or not file.is_file() or {"test", "tests"} & set(file.parts):
            continue
        text = file.read_text(errors="replace")
        if file.suffix == ".md" and "LICEN" not in file.name.upper():
            prose |= dict.fromkeys(p.strip() for p in re.split(r"\n\s*\n", text) if 80 < len(p.strip()) < 2_000)
            continue
        try:
            found = list(python(text, chance) if file.suffix == ".py" else rust(text))
        except (SyntaxError, ValueError):
            continue
        for description, code in found:
            if len(description) in DESCRIPTION:
                pairs.setdefault(description, code.strip()[:LONGEST])
    json.dump({"pairs": list(pairs.items()), "prose": list(prose)}, sys.stdout, ensure_ascii=False)


if __name__ == "__main__":
    main(sys.argv[1:])
