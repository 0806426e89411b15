"""What a person counts in the fixtures by hand. The golden events are compared by `totalrecall adapters test`.

The bindings are made by `componentize-py --wit-path ../../wit/since-v0.1.0 --world adapter bindings bindings`; then
`PYTHONPATH=src:bindings python3 -m unittest discover test`.
"""

import json
import random
import unittest
from pathlib import Path

from parse import Parse, Parser
from wit_world.exports.parse import Origin, Outcome
from wit_world.imports.types import Author, Channel, Status

FIXTURES = Path(__file__).parent.parent / "fixtures"
CHATS = "transcripts/projects/-home-dev-work-demo/chats"
SESSION = (FIXTURES / f"0.15-session/{CHATS}/05f5371e-f787-488b-9633-f346799a31b0.jsonl").read_bytes()
FAILED = (FIXTURES / f"0.15-session/{CHATS}/984e388d-fc96-4268-a20a-49f658992953.jsonl").read_bytes()
REFUSALS = (FIXTURES / f"refusals/{CHATS}/5e55101a-0000-4000-8000-000000000002.jsonl").read_bytes()


def parser(resume=None):
    return Parser(Origin("chat.jsonl", None, 16384), resume)


def read(transcript):
    one = parser()
    return one.feed(transcript) + one.finish(), one.tally()


def bodies(events, kind):
    return [event.body.value for event in events if type(event.body).__name__ == f"Body_{kind}"]


class Counts(unittest.TestCase):
    def test_a_session_is_told_as_it_was(self):
        events, tally = read(SESSION)
        typed = [message.text for message in bodies(events, "Message") if message.author == Author.HUMAN]
        self.assertEqual(
            typed,
            [
                "Create a small calc module with add and mean, plus a test file.",
                "No, don't use assert scripts, use pytest for every check in this project.",
                "Print a very long output",
            ],
        )
        failed = [result for result in bodies(events, "ToolResult") if result.status == Status.ERROR]
        self.assertEqual(
            [(result.exit_code, result.text.splitlines()[-1][:40]) for result in failed],
            [
                (1, "AssertionError: -1"),
                (1, "AssertionError"),
                (None, "File /home/dev/work/demo/calc.py has not"),
                (3, "cat: missing_file.txt: No such file or d"),
            ],
        )
        self.assertEqual(len(bodies(events, "ToolCall")), 12)
        self.assertEqual(len({event.key for event in events}), len(events))
        self.assertFalse([entry for entry in tally if entry.outcome in (Outcome.UNKNOWN, Outcome.BROKEN)])

    def test_an_error_that_reached_the_person(self):
        [error] = bodies(read(FAILED)[0], "ApiError")
        self.assertEqual((error.status, error.text), (400, "400 mock: bad request"))

    def test_refusals(self):
        events, tally = read(REFUSALS)
        results = [(result.call, result.status) for result in bodies(events, "ToolResult")]
        self.assertEqual(
            results,
            [("c1", Status.DENIED), ("c2", Status.INTERRUPTED), ("c3", Status.BLOCKED), ("c4", Status.OK)],
        )
        commands = [message.text for message in bodies(events, "Message") if message.channel == Channel.COMMAND]
        self.assertEqual(commands, ["/compress"])
        drift = [(entry.what, entry.first) for entry in tally if entry.outcome in (Outcome.UNKNOWN, Outcome.BROKEN)]
        self.assertEqual(drift, [("system/hologram", 12), ("torn record", 14)])
        self.assertEqual(bodies(events, "Message")[-1].text, "glued")

    def test_however_the_bytes_are_cut(self):
        for transcript in (SESSION, FAILED, REFUSALS):
            whole = read(transcript)
            for size in (17, 1000, 100_000):
                one, events, start, chunk = parser(), [], 0, 0
                while start < len(transcript):
                    # Chunks of a growing size, because an open line is given again from its beginning.
                    end = start + size * (1 + chunk % 50)
                    events += one.feed(transcript[start:end])
                    start = min(end, len(transcript))
                    if chunk % 50 == 49:
                        checkpoint = one.checkpoint()
                        one, start = parser(checkpoint.state), checkpoint.offset
                    chunk += 1
                events += one.finish()
                self.assertEqual((events, one.tally()), whole)

    def test_nothing_that_a_record_may_hold_is_a_crash(self):
        values = ["null", "7", "-1.5", '"x"', "[]", "{}", '[{"type":3}]', "true", '"\\ud83d"', "1e999", "9" * 30]
        lines = (SESSION + REFUSALS).decode().splitlines()
        for seed in range(300):
            rng = random.Random(seed)
            line = lines[seed % len(lines)]
            pieces = [piece if rng.random() > 0.2 else f'{rng.choice(values)},"x":' for piece in line.split(":")]
            events, _ = read(f"{':'.join(pieces)}\n{line[: seed * 3]}\n\0\0\n{'[' * 100_000}\n{line}".encode())
            json.dumps([str(event) for event in events]).encode()

    def test_only_chats_are_recognised(self):
        for transcript in (SESSION, FAILED, REFUSALS):
            self.assertTrue(Parse().recognise(transcript))
        for other in (b"", b"{}", b'{"uuid":"x","sessionId":"y"}\n', b"\xff\0\n"):
            self.assertFalse(Parse().recognise(other))


if __name__ == "__main__":
    unittest.main()
