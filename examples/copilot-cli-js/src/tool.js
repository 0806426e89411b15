/** Tool calls and their results. */

import { object, text } from './totalrecall.js';

/** Longest side of an edit that is kept: enough to recognise it, and to see it put back. */
const EDIT = 4096;

const KINDS = new Map(
  Object.entries({
    read: ['view'],
    edit: ['edit', 'apply_patch'],
    create: ['create'],
    execute: ['bash', 'powershell', 'read_bash', 'write_bash', 'stop_bash', 'list_bash'],
    search: ['grep', 'glob', 'rg'],
    fetch: ['web_fetch', 'web_search', 'fetch_copilot_cli_documentation'],
    delegate: ['task', 'read_agent', 'list_agents'],
    plan: ['update_todo', 'exit_plan_mode', 'report_intent'],
    ask: ['ask_user'],
  }).flatMap(([kind, names]) => names.map((name) => [name, kind])),
);

/** A `toolRequest` of a message, as the contract's `tool-call`. */
export function call(request, out) {
  const name = text(request.name);
  const kind = text(request.mcpServerName) !== '' ? 'mcp' : (KINDS.get(name) ?? 'other');
  const args = object(request.arguments);
  const path = text(args.path);
  const { text: input, omitted } = out.cap(show(request.arguments));
  return {
    id: text(request.toolCallId),
    name,
    kind,
    paths: path === '' ? [] : [path],
    command: kind === 'execute' && text(args.command) !== '' ? out.cap(args.command).text : undefined,
    edits: edits(kind, path, args, out),
    input,
    omitted,
  };
}

function edits(kind, path, args, out) {
  const side = (value) => out.cap(text(value), EDIT).text;
  if (kind === 'create') return [{ path, removed: '', added: side(args.file_text) }];
  if (kind === 'edit' && path !== '') return [{ path, removed: side(args.old_str), added: side(args.new_str) }];
  return [];
}

/** Arguments for reading and comparing: `key: value` lines as written. A patch is a string by itself. */
function show(args) {
  if (typeof args === 'string') return args;
  const lines = Object.entries(object(args));
  return lines.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join('\n');
}

/** A `tool.execution_complete`, as the contract's `tool-result`. */
export function result(data, out) {
  const error = object(data.error);
  const code = object(data.shellExecution).exitCode;
  const exitCode = Number.isInteger(code) && code === (code | 0) ? code : undefined;
  const said = data.success === false ? text(error.message) : text(object(data.result).content);
  return {
    call: text(data.toolCallId),
    ...refusal(error),
    // A command that fails is a success to the client.
    status: refusal(error).status ?? (data.success === false || (exitCode ?? 0) !== 0 ? 'error' : 'ok'),
    exitCode,
    ...out.cap(said.replace(/\n?<shellId: \S+ completed with exit code -?\d+>\s*$/, '')),
    amended: false,
  };
}

/** A person rejects a call, perhaps with a word; a rule denies it. */
function refusal(error) {
  if (error.code === 'denied') return { status: 'blocked' };
  if (error.code !== 'rejected') return {};
  return { status: 'denied', words: /User feedback: ([^]+)/.exec(text(error.message))?.[1] };
}
