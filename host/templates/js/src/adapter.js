/**
 * Transcripts of {{name}}: `~/.{{name}}/**\/*.jsonl`, one record a line.
 *
 * What stands here reads a made-up diary. Change it, record type by record type, into what your tool writes.
 */

import { adapter, count, object, skipped, text, time, understood, unknown } from './totalrecall.js';

class {{type}} {
  /** What later records need to know of earlier ones. This is the checkpoint: keep it small. */
  state = {};

  static describe() {
    return {
      name: '{{name}}',
      version: '0.1.0',
      tool: '{{name}}',
      // What the person agrees to have read. Ask for as little as there is to read.
      sources: [{ tag: 'files', val: { roots: ['~/.{{name}}'], globs: ['**/*.jsonl'] } }],
    };
  }

  static recognise(head) {
    return head.startsWith('{"type":"start",');
  }

  record(record, out) {
    // A field that is missing, or holds something else than expected, is not there: formats move.
    const line = object(record.json);
    const type = text(line.type);
    // Known, and of no use.
    if (type === 'mood') return skipped(type);
    const body = bodyOf(type, line, out);
    // Never an error: the person is told that the format has moved on.
    if (!body) return unknown(type || 'no type');
    // Equal keys are one happening: a key must survive what the tool does when it copies history.
    out.push({ line: BigInt(record.line), at: time(line.time), key: text(line.id) || undefined, body });
    return understood(type);
  }
}

export const parse = adapter({{type}});

function bodyOf(type, line, out) {
  switch (type) {
    case 'start': {
      const [id, cwd, version] = [line.id, line.folder, line.version].map((value) => text(value) || undefined);
      return { tag: 'session', val: { id, cwd, version } };
    }
    case 'entry':
      return { tag: 'message', val: { ...whoOf(line), ...out.cap(text(line.said)) } };
    case 'run': {
      const kind = line.tool === 'shell' ? 'execute' : 'other';
      const { text: input, omitted } = out.cap(text(object(line.input).command));
      const command = kind === 'execute' ? input : undefined;
      const call = { id: text(line.id), name: text(line.tool), kind, paths: [], command, edits: [], input, omitted };
      return { tag: 'tool-call', val: call };
    }
    case 'done': {
      const code = count(line.code);
      const exitCode = code !== undefined && code < 2n ** 31n ? Number(code) : undefined;
      const status = line.ok === true ? 'ok' : 'error';
      const result = { call: text(line.run), status, exitCode, ...out.cap(text(line.output)), amended: false };
      return { tag: 'tool-result', val: result };
    }
    default:
      return undefined;
  }
}

/** Only what a human typed is the human's. */
function whoOf(line) {
  if (line.who === 'me') return { author: 'human', channel: 'prompt' };
  if (line.who === 'helper') return { author: 'agent', channel: 'reply' };
  return { author: 'harness', channel: 'notice' };
}
