"""What any adapter in Python needs: bytes to lines to JSON, checkpoints, the tally, and long texts cut.

An adapter is a class with two static methods, `describe()` and `recognise(head)`, and these members:

* `state`: a dict of plain data, all that later records need to know of earlier ones. It is the checkpoint.
* `record(line, record, out)`: takes one record, a value of JSON, pushes its events to `out`, and says what became of it:
  `understood(type)`, `skipped(type)` or `unknown(type)`.
* `begin(origin)`, `finish(out)`: if it wants to know where the transcript is, or holds something back.

`Parse, Parser = exports(Mine)` makes the component's interface of it.
"""

import json
import re
from datetime import datetime, timedelta, timezone

from componentize_py_types import Err
from wit_world.exports.parse import Checkpoint, Outcome, TallyEntry
from wit_world.imports.types import Event, Fault_Internal

# Longest line that is read. A longer one is stepped over: a guest has 320 MiB, and a string is up to four times its bytes.
LONGEST_LINE = 16 << 20

# Most entries of the tally (a damaged transcript may have any number of "types"), and the longest name of one.
TALLY_ENTRIES = 256
TALLY_NAME = 64

# How far from the wanted cut a white space is looked for, so that no word is kept in half.
WORD = 4096

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MILLISECOND = timedelta(milliseconds=1)
U64 = 1 << 64


def understood(what):
    return Outcome.UNDERSTOOD, what


def skipped(what):
    return Outcome.SKIPPED, what


def unknown(what):
    return Outcome.UNKNOWN, what


# Formats move: what a field holds is read if it is what it should be, and is not there otherwise.


def text(value):
    return value if isinstance(value, str) else ""


def items(value):
    return value if isinstance(value, list) else []


def fields(value):
    return value if isinstance(value, dict) else {}


def count(value):
    """A count that fits into 64 bits; none for anything else."""
    return value if type(value) is int and 0 <= value < U64 else None


def time(value):
    """Milliseconds since the epoch of an RFC 3339 time; none for anything else."""
    try:
        millis = (datetime.fromisoformat(text(value)) - EPOCH) // MILLISECOND
    except (ValueError, TypeError, OverflowError):
        return None
    return millis if millis >= 0 else None


class Output:
    """Where an adapter puts its events."""

    def __init__(self, limit):
        self.events = []
        self.limit = limit

    def push(self, line, body, at=None, thread=None, key=None):
        self.events.append(Event(line, at, thread, key, False, body))

    def cap(self, text, limit=None):
        """The text within the host's limit, and how many of its bytes were left out of its middle."""
        limit = self.limit if limit is None else limit
        # A character is at most four bytes.
        if len(text) * 4 <= limit:
            return text, 0
        whole = text.encode()
        if len(whole) <= limit:
            return text, 0
        kept = max(0, limit - 48)
        head = head_end(whole, kept // 4 * 3)
        tail = max(head, tail_start(whole, len(whole) - kept // 4))
        before, after = (part.decode("utf-8", "ignore") for part in (whole[:head], whole[tail:]))
        return f"{before}\n… {tail - head} bytes left out …\n{after}", tail - head


def head_end(whole, wanted):
    """The last white space at or before `wanted`, or where to look no further."""
    reach = max(wanted // 2, wanted - WORD)
    at = wanted
    while at > reach and whole[at] > 32:
        at -= 1
    while at > 0 and whole[at] & 0xC0 == 0x80:
        at -= 1
    return at


def tail_start(whole, wanted):
    """The end of the first white space at or after `wanted`, or where to look no further."""
    reach = wanted + min(WORD, (len(whole) - wanted) // 2)
    at = wanted
    while at < reach and whole[at - 1] > 32:
        at += 1
    while at < len(whole) and whole[at] & 0xC0 == 0x80:
        at += 1
    return at


class Tally:
    """What became of every record, so that a format's drift is reported and never silent."""

    def __init__(self, entries=()):
        # By outcome and name: how many, and the first line.
        self.entries = {(outcome, what): [count, first] for outcome, what, count, first in entries}

    def count(self, outcome, what, line):
        key = outcome.value, what[:TALLY_NAME]
        if key not in self.entries and len(self.entries) >= TALLY_ENTRIES:
            key = outcome.value, "other"
        self.entries.setdefault(key, [0, line])[0] += 1

    def saved(self):
        return [[*key, *counted] for key, counted in self.entries.items()]


def parse_json(line):
    """A line's value. `ValueError` if it is none."""
    try:
        value = json.loads(line, strict=False, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if "\\u" in line:
        # Halves of surrogate pairs are no text: the contract's strings cannot hold them.
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value


def refuse(constant):
    raise ValueError(constant)


def exports(adapter):
    """The classes that componentize-py looks for, made of an adapter."""

    class Parse:
        def describe(self):
            return adapter.describe()

        def recognise(self, head):
            return adapter.recognise(head.decode("utf-8", "replace"))

    class Parser:
        def __init__(self, origin, resume):
            self.adapter = adapter()
            self.limit = origin.text_limit
            # Complete lines, and their bytes: where reading goes on.
            self.lines = self.offset = 0
            # The beginning of a line whose end has not come yet: pieces, and their bytes.
            self.open, self.length = [], 0
            self.tally_ = Tally()
            if resume is not None:
                self.lines, self.offset, tally, self.adapter.state = json.loads(resume)
                self.tally_ = Tally(tally)
            if hasattr(self.adapter, "begin"):
                self.adapter.begin(origin)

        def feed(self, bytes):
            """Bytes may be cut anywhere: inside a line, inside a character."""
            return self.guarded(self.feed_lines, bytes)

        def finish(self):
            """What a last line without a newline says, if it is whole. Nothing of it is settled."""
            return self.guarded(self.finish_line)

        def checkpoint(self):
            state = [self.lines, self.offset, self.tally_.saved(), self.adapter.state]
            return Checkpoint(self.offset, json.dumps(state).encode())

        def tally(self):
            return [TallyEntry(Outcome(outcome), what, *counted) for (outcome, what), counted in self.tally_.entries.items()]

        def guarded(self, work, *arguments):
            out = Output(self.limit)
            try:
                work(out, *arguments)
            except Err:
                raise
            except Exception as error:
                # A defect of ours: without this it would be a crash.
                raise Err(Fault_Internal(f"{type(error).__name__}: {error}")) from error
            return out.events

        def feed_lines(self, out, bytes):
            *ended, rest = bytes.split(b"\n")
            for piece in ended:
                self.keep(piece)
                self.lines += 1
                self.offset += self.length + 1
                line = self.take()
                if line is None:
                    self.tally_.count(Outcome.BROKEN, "line over 16 MiB", self.lines)
                else:
                    self.read(line, out)
            self.keep(rest)

        def finish_line(self, out):
            line = self.take() if self.length else None
            if line is not None:
                self.attempt(clean(line), self.lines + 1, out)
            if hasattr(self.adapter, "finish"):
                self.adapter.finish(out)

        def keep(self, piece):
            self.length += len(piece)
            if self.length > LONGEST_LINE:
                self.open = []
            elif piece:
                self.open.append(piece)

        def take(self):
            """The open line as text; none if it was too long."""
            whole = b"".join(self.open) if self.length <= LONGEST_LINE else None
            self.open, self.length = [], 0
            return None if whole is None else whole.decode("utf-8", "replace").removeprefix("\ufeff")

        def read(self, line, out):
            if self.attempt(line, self.lines, out):
                return
            cleaned = clean(line)
            if not cleaned:
                if "\0" in line:
                    self.tally_.count(Outcome.BROKEN, "NUL bytes", self.lines)
                return
            records, torn = split(cleaned)
            for record in records:
                torn |= not self.attempt(record, self.lines, out)
            if torn:
                self.tally_.count(Outcome.BROKEN, "torn record" if records else "not JSON", self.lines)

        def attempt(self, line, number, out):
            """Gives a line to the adapter. False: it is no JSON."""
            try:
                record = parse_json(line)
            except ValueError:
                return False
            self.tally_.count(*self.adapter.record(number, record, out), number)
            return True

    return Parse, Parser


def clean(line):
    """NULs are what a crash of the machine leaves in a file."""
    return line.replace("\0", "").strip()


def split(line):
    """Records that were written into one line, the first of which may be torn: `{"a":1,"b{"a":2}`.

    Each begins like the line does, with the same field: what lies inside of a torn record is not taken for one.
    """
    found = re.match(r'\{\s*"[^"]*"\s*:', line)
    start = found.group() if found else '{"'
    records, rest = [], line
    while rest:
        at = next((at for at in starts(start, rest) if is_json(rest[at:])), None)
        if at is None:
            break
        records.insert(0, rest[at:])
        rest = rest[:at]
    return records, bool(rest)


def starts(start, text):
    """Where `start` stands in `text`: the first hundred places."""
    at = text.find(start)
    for _ in range(100):
        if at < 0:
            return
        yield at
        at = text.find(start, at + 1)


def is_json(text):
    try:
        parse_json(text)
    except ValueError:
        return False
    return True
