"""Transcripts of {{name}}: `~/.{{name}}/**/*.jsonl`, one record a line.

What stands here reads a made-up diary. Change it, record type by record type, into what your tool writes.
"""

from wit_world.exports.parse import Descriptor, Files, Source_Files
from wit_world.imports.types import (
    Author,
    Body_Message,
    Body_Session,
    Body_ToolCall,
    Body_ToolResult,
    Channel,
    Message,
    Session,
    Status,
    ToolCall,
    ToolKind,
    ToolResult,
)

from totalrecall import count, fields, skipped, text, time, understood, unknown

# Only what a human typed is the human's.
WHO = {"me": (Author.HUMAN, Channel.PROMPT), "helper": (Author.AGENT, Channel.REPLY)}


class {{type}}:
    def __init__(self):
        # What later records need to know of earlier ones. This is the checkpoint: keep it small.
        self.state = {}

    @staticmethod
    def describe():
        # What the person agrees to have read. Ask for as little as there is to read.
        files = Files(["~/.{{name}}"], ["**/*.jsonl"])
        return Descriptor("{{name}}", "0.1.0", "{{name}}", [Source_Files(files)])

    @staticmethod
    def recognise(head):
        return head.startswith('{"type":"start",')

    def record(self, line, record, out):
        # A field that is missing, or holds something else than expected, is not there: formats move.
        record = fields(record)
        kind = text(record.get("type"))
        # Known, and of no use.
        if kind == "mood":
            return skipped(kind)
        body_of = BODIES.get(kind)
        # Never an error: the person is told that the format has moved on.
        if body_of is None:
            return unknown(kind or "no type")
        # Equal keys are one happening: a key must survive what the tool does when it copies history.
        key = text(record.get("id")) or None
        out.push(line, body_of(record, out), at=time(record.get("time")), key=key)
        return understood(kind)


def start(record, out):
    id, cwd, version = (text(record.get(name)) or None for name in ("id", "folder", "version"))
    return Body_Session(Session(id, cwd, None, None, version, None))


def entry(record, out):
    author, channel = WHO.get(text(record.get("who")), (Author.HARNESS, Channel.NOTICE))
    return Body_Message(Message(author, channel, *out.cap(text(record.get("said")))))


def run(record, out):
    tool = text(record.get("tool"))
    kind = ToolKind.EXECUTE if tool == "shell" else ToolKind.OTHER
    shown, omitted = out.cap(text(fields(record.get("input")).get("command")))
    command = shown if kind == ToolKind.EXECUTE else None
    return Body_ToolCall(ToolCall(text(record.get("id")), tool, kind, [], command, [], shown, omitted))


def done(record, out):
    status = Status.OK if record.get("ok") is True else Status.ERROR
    code = count(record.get("code"))
    exit_code = code if code is not None and code < 1 << 31 else None
    printed = out.cap(text(record.get("output")))
    return Body_ToolResult(ToolResult(text(record.get("run")), status, exit_code, *printed, None, False))


BODIES = {"start": start, "entry": entry, "run": run, "done": done}
