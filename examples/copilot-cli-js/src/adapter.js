/**
 * Sessions of GitHub Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, one event of the client a line.
 *
 * A line is `{ type, data, id, parentId, timestamp }`, and `agentId` if a sub-agent did it. Events are only ever added; a
 * session that is resumed goes on in its file. After a crash the last line may be torn, and the next one be glued to it.
 */

import { adapter, count, list, object, skipped, text, time, understood, unknown } from './totalrecall.js';
import { call, result } from './tool.js';

/** Known, and of no use here. What a tool does is in the request and in `tool.execution_complete`. */
const SKIPPED = new Set([
  'assistant.intent',
  'assistant.reasoning',
  'assistant.turn_end',
  'assistant.turn_start',
  'assistant.usage',
  'hook.end',
  'hook.start',
  'permission.completed',
  'permission.requested',
  'session.compaction_start',
  'session.context_changed',
  'session.import_legacy',
  'session.info',
  'session.mode_changed',
  'session.model_change',
  'session.plan_changed',
  'session.shutdown',
  'session.truncation',
  'session.warning',
  'session.workspace_file_changed',
  'subagent.completed',
  'subagent.failed',
  'subagent.selected',
  'subagent.started',
  // The vendor's prompt: some 20 KiB in each session.
  'system.message',
  'tool.execution_start',
]);

/** Most calls that may be without a result at a time. */
const OPEN_CALLS = 256;

class CopilotCli {
  /** Calls that have no result yet: an interrupt stops them. */
  state = { open: [] };

  static describe() {
    return {
      name: 'copilot-cli',
      version: '0.1.0',
      tool: 'copilot-cli',
      sources: [
        {
          tag: 'files',
          // Sessions of older versions are files, without a folder of their own.
          val: { roots: ['${COPILOT_HOME:-~/.copilot}/session-state'], globs: ['*/events.jsonl', '*.jsonl'] },
        },
      ],
    };
  }

  static recognise(head) {
    const first = head.slice(0, head.indexOf('\n'));
    return first.startsWith('{"type":"session.start"') && first.includes('"copilotVersion":');
  }

  record(record, out) {
    const event = object(record.json);
    const type = text(event.type);
    if (SKIPPED.has(type)) return skipped(type);
    const handler = HANDLERS.get(type);
    if (!handler) return unknown(type || 'no type');
    handler.call(this, object(event.data), new Teller(record.line, event, out));
    return understood(type);
  }
}

export const parse = adapter(CopilotCli);

/** Pushes what one line says: the first event has the line's id for a key, those after it are numbered. */
class Teller {
  #told = 0;

  constructor(line, event, out) {
    this.out = out;
    this.line = BigInt(line);
    this.at = time(event.timestamp);
    this.thread = text(event.agentId) || undefined;
    this.key = text(event.id) || undefined;
  }

  tell(tag, val) {
    const { line, at, thread } = this;
    const key = this.key && this.#told > 0 ? `${this.key}/${this.#told}` : this.key;
    this.#told++;
    this.out.push({ line, at, thread, key, body: { tag, val } });
  }

  message(author, channel, said) {
    if (said.trim() !== '') this.tell('message', { author, channel, ...this.out.cap(said) });
  }
}

const HANDLERS = new Map(Object.entries({
  'session.start': session,
  'session.resume': session,

  'session.title_changed'(data, teller) {
    teller.tell('session', { title: text(data.title) || undefined });
  },

  'user.message'(data, teller) {
    const said = text(data.content);
    // `source` is there if it was not typed: a skill, a schedule, a notice of the client.
    const source = text(data.source);
    if (source !== '' && source !== 'user') teller.message('harness', 'notice', said);
    else teller.message('human', data.delivery === 'steering' ? 'steering' : 'prompt', said);
  },

  'assistant.message'(data, teller) {
    teller.message('agent', 'reasoning', text(data.reasoningText));
    teller.message('agent', 'reply', text(data.content));
    for (const request of list(data.toolRequests).map(object)) {
      teller.tell('tool-call', call(request, teller.out));
      this.state.open.push(text(request.toolCallId));
    }
    this.state.open = this.state.open.slice(-OPEN_CALLS);
  },

  // A command that the person ran with `!`.
  'tool.user_requested'(data, teller) {
    teller.message('human', 'shell', text(object(data.arguments).command));
  },

  'tool.execution_complete'(data, teller) {
    const done = result(data, teller.out);
    this.state.open = this.state.open.filter((open) => open !== done.call);
    if (data.isUserRequested === true) teller.message('harness', 'shell', done.text);
    else teller.tell('tool-result', done);
  },

  abort(_, teller) {
    teller.tell('interrupt', { inTool: this.state.open.length > 0 });
    this.state.open = [];
  },

  'session.error'(data, teller) {
    teller.tell('api-error', failure(data.statusCode, data.message, false, teller));
  },

  'model.call_failure'(data, teller) {
    teller.tell('api-error', failure(data.statusCode, data.errorMessage, true, teller));
  },

  'session.compaction_complete'(data, teller) {
    if (data.success === false) return;
    const manual = typeof data.trigger === 'string' ? data.trigger === 'manual' : undefined;
    teller.tell('compaction', { manual, tokensBefore: count(data.preCompactionTokens) });
    teller.message('harness', 'summary', text(data.summaryContent));
  },

  'session.snapshot_rewind'(data, teller) {
    if (text(data.upToEventId) !== '') teller.tell('rewind', data.upToEventId);
  },

  'skill.invoked'(data, teller) {
    teller.message('harness', 'notice', text(data.content));
  },

  'system.notification'(data, teller) {
    teller.message('harness', 'notice', text(data.content));
  },

  'session.usage_record'(data, teller) {
    const usage = object(data.usage);
    const tokens = (name) => count(usage[name]) ?? 0n;
    const [cacheRead, cacheWrite] = [tokens('cacheReadTokens'), tokens('cacheWriteTokens')];
    // Input tokens are counted with those that came from the cache.
    const fresh = tokens('inputTokens') - cacheRead - cacheWrite;
    const input = fresh > 0n ? fresh : 0n;
    teller.tell('usage', { model: text(usage.model), input, output: tokens('outputTokens'), cacheRead, cacheWrite });
  },
}));

function session(data, teller) {
  const context = object(data.context);
  teller.tell('session', {
    id: text(data.sessionId) || undefined,
    cwd: text(context.cwd) || undefined,
    branch: text(context.branch) || undefined,
    version: text(data.copilotVersion) || undefined,
  });
}

function failure(status, message, retried, teller) {
  const http = Number.isInteger(status) && status > 0 && status < 1000 ? status : undefined;
  return { status: http, text: teller.out.cap(text(message)).text, retried };
}
