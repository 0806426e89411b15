"""Tool calls and their results."""

import json
import re

from wit_world.imports.types import Edit, Status, ToolCall, ToolKind, ToolResult

from totalrecall import fields, text

# Longest side of an edit that is kept: enough to recognise it, and to see it put back.
EDIT = 4096

KINDS = {
    ToolKind.READ: ["read_file", "read_many_files"],
    ToolKind.EDIT: ["edit", "replace"],
    ToolKind.CREATE: ["write_file"],
    ToolKind.EXECUTE: ["run_shell_command"],
    ToolKind.SEARCH: ["list_directory", "glob", "grep_search", "search_file_content"],
    ToolKind.FETCH: ["web_fetch", "web_search", "google_web_search"],
    ToolKind.DELEGATE: ["task", "agent"],
    ToolKind.PLAN: ["todo_write", "exit_plan_mode"],
    ToolKind.ASK: ["ask_user_question"],
}
KIND = {name: kind for kind, names in KINDS.items() for name in names}

# What a shell command gives back to the model.
SHELL = re.compile(
    r"Command: .*?\nDirectory: [^\n]*\n(?:Output|Stdout): (?P<output>.*)\n(?:Error|Stderr): (?P<error>.*)"
    r"\nExit Code: (?P<code>-?\d+|\(none\))\nSignal: ",
    re.DOTALL,
)


def call(request, out):
    """A `functionCall`, as the contract's `tool-call`."""
    name = text(request.get("name"))
    kind = KIND.get(name, ToolKind.MCP if name.startswith("mcp__") else ToolKind.OTHER)
    arguments = fields(request.get("args"))
    path = text(arguments.get("file_path")) or text(arguments.get("path"))
    command = text(arguments.get("command")) if kind == ToolKind.EXECUTE else ""
    return ToolCall(
        text(request.get("id")),
        name,
        kind,
        [path] if path and kind != ToolKind.EXECUTE else [],
        out.cap(command)[0] if command else None,
        list(edits(kind, path, arguments, out)),
        *out.cap("\n".join(f"{key}: {show(value)}" for key, value in arguments.items())),
    )


def show(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def edits(kind, path, arguments, out):
    side = lambda name: out.cap(text(arguments.get(name)), EDIT)[0]
    if kind == ToolKind.EDIT:
        yield Edit(path, side("old_string"), side("new_string"))
    elif kind == ToolKind.CREATE:
        yield Edit(path, "", side("content"))


def result(response, outcome, out):
    """A `functionResponse`, with what the client made of it, as the contract's `tool-result`."""
    said = fields(response.get("response"))
    failed = text(said.get("error"))
    shown, code = unwrap(failed or text(said.get("output")))
    return ToolResult(
        text(response.get("id")) or text(outcome.get("callId")),
        status(text(outcome.get("status")), text(outcome.get("errorType")), failed, code),
        code,
        *out.cap(shown),
        None,
        False,
    )


def status(said, error, failed, code):
    if said == "cancelled":
        return Status.DENIED if "did not allow" in failed else Status.INTERRUPTED
    if error == "execution_denied":
        return Status.BLOCKED
    # A command that fails is a success to the client.
    return Status.ERROR if said == "error" or failed or code else Status.OK


def unwrap(said):
    """What a command printed, and its exit code; any other text as it is."""
    found = SHELL.search(said) if "Command: " in said else None
    if not found:
        return said, None
    streams = [stream for stream in found.group("output", "error") if stream not in ("(none)", "(empty)")]
    code = found["code"]
    exit_code = int(code) if code != "(none)" and len(code) < 10 else None
    return "\n".join(streams), exit_code
