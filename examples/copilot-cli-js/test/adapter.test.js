// What a person counts in the fixtures by hand. The golden events are compared by `totalrecall adapters test`.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from '../src/adapter.js';

const fixture = (path) => readFileSync(new URL(`../fixtures/${path}/events.jsonl`, import.meta.url));
const SESSION = fixture('1.0.102-session/transcripts/177a2f15-916c-4017-8edc-d41d4a70c017');
const FAILED = fixture('1.0.102-session/transcripts/f7df4c58-c251-4091-a90d-6689c544c9b5');
const REFUSAL = fixture('refusal-and-interrupt/transcripts/5e55101a-0000-4000-8000-000000000001');

const parser = (resume) => new parse.Parser({ path: 'events.jsonl', textLimit: 16384 }, resume);

function read(bytes) {
  const one = parser();
  const events = [...one.feed(bytes), ...one.finish()];
  return { events, tally: one.tally() };
}

const bodies = (events, tag) => events.filter(({ body }) => body.tag === tag).map(({ body }) => body.val);

test('a session is told as it was', () => {
  const { events, tally } = read(SESSION);
  const typed = bodies(events, 'message').filter(({ author }) => author === 'human');
  assert.deepEqual(
    typed.map(({ text }) => text),
    [
      'Create a small calc module with add and mean, plus a test file.',
      "No, don't use assert scripts, use pytest for every check in this project.",
      'Print a very long output',
    ],
  );
  const failed = bodies(events, 'tool-result').filter(({ status }) => status === 'error');
  assert.deepEqual(
    failed.map(({ exitCode, text }) => [exitCode, text.split('\n').at(-1)]),
    [
      [1, 'AssertionError: -1'],
      [1, 'AssertionError'],
      [undefined, 'No match found'],
      [3, 'cat: missing_file.txt: No such file or directory'],
    ],
  );
  assert.equal(bodies(events, 'tool-call').length, 12);
  assert.ok(tally.every(({ outcome }) => outcome === 'understood' || outcome === 'skipped'));
  assert.equal(new Set(events.map(({ key }) => key)).size, events.length);
});

test('an error that reached the person', () => {
  const { events } = read(FAILED);
  assert.deepEqual(bodies(events, 'api-error'), [{ status: 400, text: '400 mock: bad request', retried: false }]);
});

test('refusals, interrupts, sub-agents', () => {
  const { events, tally } = read(REFUSAL);
  const results = bodies(events, 'tool-result');
  assert.deepEqual(
    results.map(({ call, status, words }) => [call, status, words]),
    [
      ['c1', 'denied', 'only the object files'],
      ['c4', 'ok', undefined],
      ['c3', 'blocked', undefined],
    ],
  );
  assert.deepEqual(bodies(events, 'interrupt'), [{ inTool: true }]);
  assert.equal(events.filter(({ thread }) => thread === 'agent-1').length, 3);
  const counts = tally.filter(({ outcome }) => outcome === 'unknown' || outcome === 'broken');
  assert.deepEqual(
    counts.map(({ what, first }) => [what, first]),
    [
      ['session.hologram', 15n],
      ['torn record', 16n],
    ],
  );
});

test('however the bytes are cut, and wherever reading goes on, the events are the same', () => {
  for (const bytes of [SESSION, FAILED, REFUSAL]) {
    const whole = read(bytes);
    for (const size of [17, 1000, 100_000]) {
      let one = parser();
      const events = [];
      let from = 0;
      for (let chunk = 0; from < bytes.length; chunk++) {
        // Chunks of a growing size, because an open line is given again from its beginning.
        const to = from + size * (1 + (chunk % 50));
        events.push(...one.feed(bytes.subarray(from, to)));
        from = Math.min(to, bytes.length);
        if (chunk % 50 === 49) {
          const { offset, state } = one.checkpoint();
          one = parser(state);
          from = Number(offset);
        }
      }
      events.push(...one.finish());
      assert.deepEqual({ events, tally: one.tally() }, whole);
    }
  }
});

test('nothing that a record may hold is a crash', () => {
  const values = ['null', '7', '-1.5', '"x"', '[]', '{}', '[{"type":3}]', 'true', '"\\ud83d"', '1e999'];
  const lines = SESSION.toString().split('\n');
  for (let seed = 0; seed < 300; seed++) {
    const line = lines[seed % lines.length];
    let number = 0;
    const other = line.replace(/:/g, () => (++number * 7 + seed) % 5 === 0 ? `:${values[(number + seed) % 10]},"x":` : ':');
    read(Buffer.from(`${other}\n${line.slice(0, seed * 3)}\n\0\0\n${line}`));
  }
});

test('long texts are cut in the middle', () => {
  const long = 'größer '.repeat(5000);
  const line = JSON.stringify({ type: 'user.message', data: { content: long }, id: 'x', timestamp: '' });
  const [message] = bodies(read(Buffer.from(line)).events, 'message');
  const bytes = Buffer.byteLength(message.text);
  assert.ok(bytes <= 16384 && bytes > 16000, `${bytes}`);
  assert.ok(!message.text.includes('\ufffd'));
  assert.match(message.text, new RegExp(`… ${message.omitted} bytes left out …`));
});
