"""The predecessor's way of searching beside ours, on the same chunks, in one run.

    pip install bm25s
    python bench/predecessor/search.py --bin target/release/totalrecall

The predecessor (RLM) keeps chunks as Markdown files with a head of metadata and an index of them. For each query it reads all the files,
cuts them into words, builds a BM25 index with the package bm25s, and throws it away. This does the same work, written anew
from a description of it, in a process that is running already and has everything imported; its vectors, its protocol and its
counting of accesses are left out, which is to its advantage. Without bm25s there is nothing to compare with.
"""

import argparse
import json
import os
import random
import re
import resource
import statistics
import subprocess
import tempfile
import time
import unicodedata
from pathlib import Path

import bm25s

STOP = set(
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its me my no not of on "
    "or our she so than that the their them then there these they this to was we were what when where which who why will with would you your "
    "au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur lui ma mais me mes mon ne nous on ou par pas pour qu "
    "que qui sa se ses son sur ta te tes toi ton tu un une vos votre vous".split()
)
# Words that are read out loud by nobody: each chunk has one of its own, by which it is asked for.
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()


def words(text):
    text = unicodedata.normalize("NFD", text.lower())
    text = "".join(c for c in text if not unicodedata.combining(c))
    return [word for word in re.findall(r"[a-z0-9]+", text) if len(word) > 1 and word not in STOP]


def name(number):
    """A word for a number."""
    digits = [number // 20**place % 20 for place in range(4)]
    return "".join(SYLLABLES[digit] for digit in digits)


def make(folder, count, size, seed):
    """Chunks of about `size` bytes, of what is said in our made-up dialogues in another order."""
    rng = random.Random(seed)
    dialogues = Path(__file__).parent.parent / "signals" / "dialogues"
    turns = (turn for half in ("dev", "test") for path in sorted((dialogues / half).glob("*.json")) for turn in json.loads(path.read_text())["turns"])
    said = [turn["text"] for turn in turns if turn.get("text")]
    (folder / "chunks").mkdir(parents=True)
    entries, contents = [], []
    for number in range(count):
        lines, length = [], 0
        while length < size:
            line = rng.choice(said)
            lines.append(line)
            length += len(line.encode()) + 1
        lines.insert(rng.randrange(len(lines)), f"The {name(number)} switch was turned off because of the {name(number + count)} valve.")
        body = "\n".join(lines)
        chunk = f"2026-11-{number % 28 + 1:02}_demo_{number:03}"
        head = {"id": chunk, "summary": " ".join(words(body)[:12]), "tags": ["demo"], "project": "demo", "domain": "bench"}
        front = "\n".join(f"{key}: {json.dumps(value)}" for key, value in head.items())
        (folder / "chunks" / f"{chunk}.md").write_text(f"---\n{front}\n---\n{body}")
        entries.append(head | {"file": f"chunks/{chunk}.md"})
        contents.append({"id": chunk, "content": body, "summary": head["summary"], "tags": head["tags"], "project": "demo"})
    (folder / "index.json").write_text(json.dumps({"chunks": entries}))
    (folder / "ours.json").write_text(json.dumps({"chunks": contents}))
    return sum(len(chunk["content"].encode()) for chunk in contents)


def predecessor(folder, query, limit=5):
    """One search, as it does it."""
    entries = json.loads((folder / "index.json").read_text())["chunks"]
    documents = []
    for entry in entries:
        body = (folder / entry["file"]).read_text().split("\n---\n", 1)[1]
        before = " ".join([entry["summary"], *entry["tags"], entry["project"], entry["domain"]])
        documents.append(words(f"{before}\n{body}"))
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index(documents, show_progress=False)
    found, scores = index.retrieve([words(query)], k=limit * 3, show_progress=False)
    ranked = [name(int(number)) for number, score in zip(found[0], scores[0]) if score > 0]
    return ranked[:limit]


def told(hits):
    """Of ours, what each hit says of switches: ids of chunks are given anew when they are imported."""
    found = (re.search(r"(\w+) switch", hit["excerpt"]) for hit in hits)
    return [match[1] if match else "" for match in found]


class Server:
    """Ours, running."""

    def __init__(self, binary, home):
        command = [binary, "mcp", "--home", home]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.calls = 0
        client = {"name": "bench", "version": "0"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()

    def ask(self, method, parameters):
        self.calls += 1
        self.send({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": parameters})
        while True:
            answer = json.loads(self.child.stdout.readline())
            if answer.get("id") == self.calls:
                return answer["result"]

    def search(self, query):
        found = self.ask("tools/call", {"name": "search", "arguments": {"query": query, "limit": 5}})
        return told(found["structuredContent"]["hits"])

    def cpu(self):
        """Of its process, where the system tells; in hundredths of a second."""
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def process(binary, home, query):
    """Ours, started for this one search."""
    command = [binary, "search", "--json", "-n", "5", "--home", home, query]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return told(json.loads(done.stdout)["hits"])


def own_cpu():
    return time.process_time()


def children_cpu():
    """Of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(search, queries, cpu):
    """Times that passed in ms, time of the processor on average, and how often the right chunk came first."""
    times, right, used = [], 0, cpu()
    for query, wanted in queries:
        begun = time.perf_counter()
        found = search(query)
        times.append((time.perf_counter() - begun) * 1000)
        right += bool(found) and found[0] == wanted
    return sorted(times), (cpu() - used) * 1000 / len(queries), right


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", default="target/release/totalrecall")
    arguments.add_argument("--chunks", type=int, default=400)
    arguments.add_argument("--bytes", type=int, default=15_700, help="of a chunk")
    arguments.add_argument("--runs", type=int, default=20)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    binary = str(Path(given.bin).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder, home = Path(scratch) / "theirs", str(Path(scratch) / "home")
        size = make(folder, given.chunks, given.bytes, given.seed)
        for command in (["import", "json", str(folder / "ours.json")], ["reindex"]):
            subprocess.run([binary, *command, "--home", home], check=True, capture_output=True)
        rng = random.Random(given.seed + 1)
        asked = [name(rng.randrange(given.chunks)) for _ in range(given.runs)]
        queries = [(f"why was the {chunk} switch turned off", chunk) for chunk in asked]
        server = Server(binary, home)
        ways = {
            "predecessor's way, in process": (lambda query: predecessor(folder, query), own_cpu),
            "ours, a process for each": (lambda query: process(binary, home, query), children_cpu),
            "ours, a running server": (server.search, server.cpu),
        }
        results = {way: timed(search, queries, cpu) for way, (search, cpu) in ways.items()}
        server.close()
    load = Path("/proc/loadavg")
    print(f"{given.chunks} chunks, {size / 1e6:.1f} MB; bm25s {bm25s.__version__}")
    if load.exists():
        print("load of the machine:", " ".join(load.read_text().split()[:3]))
    print("\n| search | p50 ms | p95 ms | CPU ms, mean | right first | of the predecessor's p50 | of its CPU |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    (first, theirs, _), *_ = results.values()
    for way, (times, used, right) in results.items():
        middle, late = statistics.median(times), times[(len(times) - 1) * 95 // 100]
        ratios = f"1/{statistics.median(first) / middle:.0f} | 1/{theirs / max(used, 0.01):.0f}"
        print(f"| {way} | {middle:.1f} | {late:.1f} | {used:.1f} | {right} of {given.runs} | {ratios} |")


if __name__ == "__main__":
    main()
