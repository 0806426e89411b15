/**
 * What any adapter in JavaScript needs: bytes to lines to JSON, checkpoints, the tally, and long texts cut.
 *
 * An adapter is a class with two static methods, `describe()` and `recognise(head)`, and these members:
 *
 * - `state`: plain data, all that later records need to know of earlier ones. It is the checkpoint.
 * - `record(record, out)`: takes one record, pushes its events to `out`, and says what became of it: `understood(type)`,
 *   `skipped(type)` or `unknown(type)`. It reads `record.json` before it does anything else, because a line that is no
 *   JSON is taken apart and given again.
 * - `begin(origin)`, `finish(out)`: if it wants to know where the transcript is, or holds something back.
 *
 * `export const parse = adapter(Mine)` makes the component's interface of it.
 */

/** Longest line that is read. A longer one is stepped over: a guest has 320 MiB, and a string is up to twice its bytes. */
const LONGEST_LINE = 16 << 20;

/** Most entries of the tally: a damaged transcript may have any number of "types". */
const TALLY_ENTRIES = 256;

/** Longest name in the tally. */
const TALLY_NAME = 64;

/** How far from the wanted cut a white space is looked for, so that no word is kept in half. */
const WORD = 4096;

const decoder = new TextDecoder();
// One character a byte: the engine finds a newline in a string ten times as fast as in an array.
const places = new TextDecoder('latin1');
const encoder = new TextEncoder();

export const understood = (what) => ({ outcome: 'understood', what });
export const skipped = (what) => ({ outcome: 'skipped', what });
export const unknown = (what) => ({ outcome: 'unknown', what });

// Formats move: what a field holds is read if it is what it should be, and is not there otherwise.
export const text = (value) => (typeof value === 'string' ? value : '');
export const list = (value) => (Array.isArray(value) ? value : []);
export const object = (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {});
/** A count, as the `u64` that the contract wants; none for anything else. */
export const count = (value) => (Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined);
/** Milliseconds since the epoch of an RFC 3339 time; none for anything else. */
export const time = (value) => {
  const millis = /^\d{4}-\d\d-\d\dT/.test(text(value)) ? Date.parse(value) : NaN;
  return millis >= 0 ? BigInt(millis) : undefined;
};

/** Where an adapter puts its events. */
class Output {
  events = [];
  #limit;

  constructor(limit) {
    this.#limit = limit;
  }

  /** Adds an event: `{ line, at, thread, key, body: { tag, val } }`. */
  push(event) {
    event.copied ??= false;
    this.events.push(event);
  }

  /** The text within the host's limit, and how many of its bytes were left out of its middle. */
  cap(text, limit = this.#limit) {
    // A character is at most three bytes for each of its code units.
    if (text.length * 3 <= limit) return { text, omitted: 0n };
    const bytes = encoder.encode(text);
    if (bytes.length <= limit) return { text, omitted: 0n };
    const kept = Math.max(0, limit - 48);
    const head = headEnd(bytes, (kept >> 2) * 3);
    const tail = Math.max(head, tailStart(bytes, bytes.length - (kept >> 2)));
    const [before, after] = [decoder.decode(bytes.subarray(0, head)), decoder.decode(bytes.subarray(tail))];
    const omitted = tail - head;
    return { text: `${before}\n… ${omitted} bytes left out …\n${after}`, omitted: BigInt(omitted) };
  }
}

const isSpace = (byte) => byte <= 32;
const isInside = (byte) => (byte & 0xc0) === 0x80;

/** The last white space at or before `wanted`, or where to look no further. */
function headEnd(bytes, wanted) {
  const reach = Math.max(wanted >> 1, wanted - WORD);
  let at = wanted;
  while (at > reach && !isSpace(bytes[at])) at--;
  while (at > 0 && isInside(bytes[at])) at--;
  return at;
}

/** The end of the first white space at or after `wanted`, or where to look no further. */
function tailStart(bytes, wanted) {
  const reach = wanted + Math.min(WORD, (bytes.length - wanted) >> 1);
  let at = wanted;
  while (at < reach && !isSpace(bytes[at - 1])) at++;
  while (at < bytes.length && isInside(bytes[at])) at++;
  return at;
}

/** One line of the transcript. */
class Record {
  #json;

  constructor(line, text) {
    /** 1-based. */
    this.line = line;
    this.text = text;
  }

  /** Throws a `SyntaxError` if it is none: let it pass. */
  get json() {
    return (this.#json ??= JSON.parse(this.text));
  }
}

/** What became of every record, so that a format's drift is reported and never silent. */
class Tally {
  constructor(entries = []) {
    this.entries = entries;
  }

  count({ outcome, what }, line) {
    what = what.slice(0, TALLY_NAME);
    const find = () => this.entries.find((entry) => entry.outcome === outcome && entry.what === what);
    let entry = find();
    if (!entry && this.entries.length >= TALLY_ENTRIES) {
      what = 'other';
      entry = find();
    }
    if (entry) entry.count++;
    else this.entries.push({ outcome, what, count: 1, first: line });
  }
}

/** The component's interface `parse`, made of an adapter. */
export function adapter(Adapter) {
  class Parser {
    #adapter = new Adapter();
    #tally = new Tally();
    #limit;
    /** Complete lines, and their bytes: where reading goes on. */
    #lines = 0;
    #offset = 0;
    /** The beginning of a line whose end has not come yet: pieces, and their bytes. */
    #open = [];
    #length = 0;

    constructor(origin, resume) {
      this.#limit = origin.textLimit;
      if (resume !== undefined) {
        const { lines, offset, tally, state } = JSON.parse(decoder.decode(resume));
        this.#lines = lines;
        this.#offset = offset;
        this.#tally = new Tally(tally);
        this.#adapter.state = state;
      }
      this.#adapter.begin?.(origin);
    }

    /** Bytes may be cut anywhere: inside a line, inside a character. */
    feed(bytes) {
      return this.#guarded((out) => {
        const found = places.decode(bytes);
        let from = 0;
        for (let end; (end = found.indexOf('\n', from)) >= 0; from = end + 1) {
          this.#keep(bytes.subarray(from, end));
          this.#lines++;
          this.#offset += this.#length + 1;
          const line = this.#take();
          if (line !== undefined) this.#read(line, out);
          else this.#tally.count({ outcome: 'broken', what: 'line over 16 MiB' }, this.#lines);
        }
        this.#keep(bytes.slice(from));
      });
    }

    /** What a last line without a newline says, if it is whole. Nothing of it is settled. */
    finish() {
      return this.#guarded((out) => {
        const line = this.#length > 0 ? this.#take() : undefined;
        if (line !== undefined) this.#try(new Record(this.#lines + 1, clean(line)), out);
        this.#adapter.finish?.(out);
      });
    }

    checkpoint() {
      const state = this.#adapter.state;
      const kept = JSON.stringify({ lines: this.#lines, offset: this.#offset, tally: this.#tally.entries, state });
      return { offset: BigInt(this.#offset), state: encoder.encode(kept) };
    }

    tally() {
      const entry = ({ outcome, what, count, first }) => ({ outcome, what, count: BigInt(count), first: BigInt(first) });
      return this.#tally.entries.map(entry);
    }

    #guarded(work) {
      const out = new Output(this.#limit);
      try {
        work(out);
      } catch (error) {
        // An error is a defect of ours: without this it would be a crash.
        throw error instanceof Error ? { tag: 'internal', val: `${error.message}\n${error.stack}` } : error;
      }
      return out.events;
    }

    #keep(bytes) {
      this.#length += bytes.length;
      if (this.#length > LONGEST_LINE) this.#open = [];
      else if (bytes.length > 0) this.#open.push(bytes);
    }

    /** The open line as text; none if it was too long. */
    #take() {
      const [pieces, length] = [this.#open, this.#length];
      this.#open = [];
      this.#length = 0;
      if (length > LONGEST_LINE) return undefined;
      if (pieces.length <= 1) return pieces.length === 1 ? decoder.decode(pieces[0]) : '';
      const whole = new Uint8Array(length);
      let at = 0;
      for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
      }
      return decoder.decode(whole);
    }

    #read(line, out) {
      if (this.#try(new Record(this.#lines, line), out)) return;
      const cleaned = clean(line);
      if (cleaned === '') {
        if (line.includes('\0')) this.#tally.count({ outcome: 'broken', what: 'NUL bytes' }, this.#lines);
        return;
      }
      const { records, torn } = split(cleaned);
      for (const text of records) {
        if (!this.#try(new Record(this.#lines, text), out)) torn.push(text);
      }
      const what = records.length > 0 ? 'torn record' : 'not JSON';
      if (torn.length > 0) this.#tally.count({ outcome: 'broken', what }, this.#lines);
    }

    /** Gives a record to the adapter. False: it is no JSON. */
    #try(record, out) {
      try {
        this.#tally.count(this.#adapter.record(record, out), record.line);
        return true;
      } catch (error) {
        if (error instanceof SyntaxError) return false;
        throw error;
      }
    }
  }

  return { describe: () => Adapter.describe(), recognise: (head) => Adapter.recognise(decoder.decode(head)), Parser };
}

/** NULs are what a crash of the machine leaves in a file. */
const clean = (line) => line.replaceAll('\0', '').trim();

/**
 * Records that were written into one line, the first of which may be torn: `{"a":1,"b{"a":2}`. Each begins like the line
 * does, with the same field: what lies inside of a torn record is not taken for one.
 */
function split(line) {
  const start = /^\{\s*"[^"]*"\s*:/.exec(line)?.[0] ?? '{"';
  const records = [];
  const torn = [];
  for (let rest = line, tries = 0; rest !== ''; ) {
    let at = rest.indexOf(start);
    for (; at >= 0 && tries < 100 && !isJson(rest.slice(at)); tries++) at = rest.indexOf(start, at + 1);
    if (at < 0 || tries >= 100) {
      torn.push(rest);
      break;
    }
    records.unshift(rest.slice(at));
    rest = rest.slice(0, at);
  }
  return { records, torn };
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
