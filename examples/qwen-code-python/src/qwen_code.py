"""Chats of Qwen Code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`, one record a line.

Every record has `uuid`, `sessionId`, `timestamp`, `cwd`, `version`, `gitBranch` and a `type`: `user`, `assistant`,
`tool_result`, or `system` with a `subtype`. Messages are Gemini's: a list of `parts`. A session that is resumed goes on in
its file.
"""

from wit_world.exports.parse import Descriptor, Files, Source_Files
from wit_world.imports.types import (
    ApiError,
    Author,
    Body_ApiError,
    Body_Compaction,
    Body_Message,
    Body_Session,
    Body_ToolCall,
    Body_ToolResult,
    Body_Usage,
    Channel,
    Compaction,
    Message,
    Session,
    Usage,
)

import tool
from totalrecall import count, fields, items, skipped, text, time, understood, unknown

# Known, and of no use here.
SKIPPED = {"attribution_snapshot", "at_command", "file_history_snapshot"}

# Of `ui_telemetry`: the same is told by the messages.
SKIPPED_EVENTS = {"api_response", "tool_call", "api_request", "user_prompt", "file_operation"}


class QwenCode:
    def __init__(self):
        # What the last record said of its session: id, folder, branch, version.
        self.state = {"session": None}

    @staticmethod
    def describe():
        # Up to 0.1 chats were in ~/.qwen/tmp/<hash>/chats.
        files = Files(["~/.qwen"], ["projects/*/chats/*.jsonl", "tmp/*/chats/*.jsonl"])
        return Descriptor("qwen-code", "0.1.0", "qwen-code", [Source_Files(files)])

    @staticmethod
    def recognise(head):
        first = head.partition("\n")[0]
        return first.startswith('{"uuid":"') and '"sessionId":"' in first and '"parts":[' in first

    def record(self, line, record, out):
        record = fields(record)
        teller = Teller(line, record, out)
        kind = text(record.get("type"))
        if kind not in ("user", "assistant", "tool_result", "system"):
            return unknown(kind or "no type")
        self.session(record, teller)
        return getattr(self, kind)(record, teller)

    def session(self, record, teller):
        said = [text(record.get(name)) or None for name in ("sessionId", "cwd", "gitBranch", "version")]
        if said != self.state["session"]:
            self.state["session"] = said
            id, cwd, branch, version = said
            teller.aside("session", Body_Session(Session(id, cwd, branch, None, version, None)))

    def user(self, record, teller):
        subtype = text(record.get("subtype"))
        for part in parts(record):
            said = text(part.get("text"))
            if subtype.startswith("mid_turn"):
                teller.message(Author.HUMAN, Channel.STEERING, said)
            # A schedule or a notice of the client speaks in the person's place.
            elif subtype or said.startswith("<system-reminder>"):
                teller.message(Author.HARNESS, Channel.NOTICE, said)
            else:
                teller.message(Author.HUMAN, Channel.PROMPT, said)
        return understood("user")

    def assistant(self, record, teller):
        for part in parts(record):
            if "functionCall" in part:
                teller.push(Body_ToolCall(tool.call(fields(part["functionCall"]), teller.out)))
            elif part.get("thought") is True:
                teller.message(Author.AGENT, Channel.REASONING, text(part.get("text")))
            else:
                teller.message(Author.AGENT, Channel.REPLY, text(part.get("text")))
        usage = fields(record.get("usageMetadata"))
        prompt, cached, candidates, total = (
            count(usage.get(f"{name}TokenCount")) or 0 for name in ("prompt", "cachedContent", "candidates", "total")
        )
        # The prompt is counted with what came from the cache, and thoughts are counted in the total only.
        output = max(candidates, total - prompt)
        if prompt or output:
            spent = Usage(text(record.get("model")), max(0, prompt - cached), output, cached, 0)
            teller.aside("usage", Body_Usage(spent))
        return understood("assistant")

    def tool_result(self, record, teller):
        outcome = fields(record.get("toolCallResult"))
        for part in parts(record):
            if "functionResponse" in part:
                result = tool.result(fields(part["functionResponse"]), outcome, teller.out)
                teller.push(Body_ToolResult(result))
        return understood("tool_result")

    def system(self, record, teller):
        subtype = text(record.get("subtype"))
        payload = fields(record.get("systemPayload"))
        name = f"system/{subtype}"
        if subtype in SKIPPED:
            return skipped(name)
        if subtype == "ui_telemetry":
            return self.telemetry(fields(payload.get("uiEvent")), teller)
        if subtype == "chat_compression":
            before = count(fields(payload.get("info")).get("originalTokenCount"))
            teller.push(Body_Compaction(Compaction(None, before)))
        elif subtype == "slash_command":
            # It is recorded twice: as typed, and with what it printed.
            if payload.get("phase") == "invocation":
                teller.message(Author.HUMAN, Channel.COMMAND, text(payload.get("rawCommand")))
        elif subtype == "custom_title":
            title = text(payload.get("customTitle")) or None
            teller.push(Body_Session(Session(None, None, None, title, None, None)))
        else:
            return unknown(name)
        return understood(name)

    def telemetry(self, event, teller):
        what = text(event.get("event.name")).removeprefix("qwen-code.")
        name = f"system/ui_telemetry/{what}"
        if what in SKIPPED_EVENTS:
            return skipped(name)
        if what != "api_error":
            return unknown(name)
        status = count(event.get("status_code"))
        said, _ = teller.out.cap(text(event.get("error_message")))
        teller.push(Body_ApiError(ApiError(status if status and status < 1000 else None, said, False)))
        return understood(name)


def parts(record):
    return [fields(part) for part in items(fields(record.get("message")).get("parts"))]


class Teller:
    """Pushes what one record says: the first event has the record's id for a key, those after it are numbered."""

    def __init__(self, line, record, out):
        self.line, self.out = line, out
        self.at = time(record.get("timestamp"))
        self.uuid = text(record.get("uuid")) or None
        self.told = 0

    def push(self, body):
        self.out.push(self.line, body, self.at, key=self.key(self.told or None))
        self.told += 1

    def aside(self, what, body):
        """An event beside the conversation."""
        self.out.push(self.line, body, self.at, key=self.key(what))

    def key(self, suffix):
        return f"{self.uuid}/{suffix}" if self.uuid and suffix else self.uuid

    def message(self, author, channel, said):
        if said.strip():
            self.push(Body_Message(Message(author, channel, *self.out.cap(said))))
