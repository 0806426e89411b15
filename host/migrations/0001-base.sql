-- The first schema. Migrations are only ever added; a released one never changes.
-- Times are milliseconds since the Unix epoch, UTC. `line` is the 1-based line or row of the transcript.

-- The ledger: one row for each transcript that was ever seen.
CREATE TABLE transcript (
    id INTEGER PRIMARY KEY,
    adapter TEXT NOT NULL,
    tool TEXT NOT NULL,
    path TEXT NOT NULL,
    key TEXT NOT NULL,                  -- the session's key in a database source, '' for a file
    session_id INTEGER REFERENCES session (id) ON DELETE SET NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'done', 'failed', 'skipped', 'expired')),
    queued_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,             -- size when it was queued: large ones get a transaction of their own
    done_at INTEGER,
    claims INTEGER NOT NULL DEFAULT 0,  -- times it was begun since it last ended: above 0 after a crash
    attempts INTEGER NOT NULL DEFAULT 0,
    next_try INTEGER,                   -- failed and NULL: given up
    reason TEXT,                        -- kind of the failure or skip, and its text and line
    why TEXT,
    place INTEGER,
    size INTEGER, mtime_ns INTEGER, inode INTEGER, device INTEGER, version TEXT, -- as last dealt with
    parsed_by TEXT,                     -- the adapter component's hash
    analyzed_by TEXT,                   -- the analyzer component's and its settings' hash; NULL: to be analysed again
    settled INTEGER NOT NULL DEFAULT 0, -- rows of `event` that hold whatever follows; later ones are provisional
    settled_counts TEXT,                -- the counts below for these rows alone
    events INTEGER NOT NULL DEFAULT 0, messages INTEGER NOT NULL DEFAULT 0,
    tool_calls INTEGER NOT NULL DEFAULT 0, edits INTEGER NOT NULL DEFAULT 0,
    agent_events INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER, ended_at INTEGER,
    UNIQUE (adapter, path, key)
) STRICT;
CREATE INDEX transcript_waiting ON transcript (claims, queued_at) WHERE state IN ('queued', 'failed');
CREATE INDEX transcript_session ON transcript (session_id);

-- Where reading goes on when a transcript has grown. Apart from the ledger because the states are large and a row is
-- rewritten whole.
CREATE TABLE checkpoint (
    transcript_id INTEGER PRIMARY KEY REFERENCES transcript (id) ON DELETE CASCADE,
    offset INTEGER NOT NULL,
    head_hash BLOB NOT NULL,            -- of the first, and of the last bytes before `offset`, 4 KiB at most each
    seam_hash BLOB NOT NULL,
    parser_state BLOB NOT NULL,
    analysis_state BLOB NOT NULL,
    tally TEXT NOT NULL
) STRICT;

CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    tool TEXT NOT NULL,
    native_id TEXT NOT NULL,            -- not unique: two files may claim one id
    folder TEXT NOT NULL,               -- where its main transcript lies; sub-agents join by it
    main_transcript INTEGER UNIQUE REFERENCES transcript (id) ON DELETE SET NULL, -- NULL: only sub-agents were seen
    parent TEXT,
    project TEXT, cwd TEXT, branch TEXT, title TEXT, version TEXT,
    started_at INTEGER, ended_at INTEGER,
    events INTEGER NOT NULL DEFAULT 0, messages INTEGER NOT NULL DEFAULT 0,
    tool_calls INTEGER NOT NULL DEFAULT 0, edits INTEGER NOT NULL DEFAULT 0,
    agent_events INTEGER NOT NULL DEFAULT 0,
    findings_stale INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX session_native ON session (tool, native_id);
CREATE INDEX session_stale ON session (id) WHERE findings_stale;

-- Short texts that repeat in most events: threads, names of tools and models.
CREATE TABLE label (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

-- `id` is the transcript's id * 2^32 + the event's ordinal, so a transcript's events lie together in their order and
-- need no index. Numbers of kind, author, channel, tool_kind and status: `store/event.rs`.
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    transcript_id INTEGER GENERATED ALWAYS AS (id >> 32) VIRTUAL,
    line INTEGER NOT NULL,
    at INTEGER,
    thread INTEGER,                     -- label
    key INTEGER,                        -- 64 bits of hash of tool and key
    copied INTEGER NOT NULL,            -- 0 no, 1 the adapter says so, 2 the same key is stored from another transcript
    kind INTEGER NOT NULL,
    author INTEGER,
    channel INTEGER,
    tool_kind INTEGER,
    status INTEGER,
    exit_code INTEGER,
    omitted INTEGER NOT NULL,
    name INTEGER,                       -- label: the tool, or the model of a usage
    call TEXT,
    path TEXT,
    detail TEXT,                        -- JSON: what only some events have
    text TEXT                           -- last, because it may be long
) STRICT;
CREATE INDEX event_key ON event (key) WHERE copied = 0 AND key IS NOT NULL;
CREATE INDEX event_copy ON event (key) WHERE copied = 2;

-- Figures of the usage event of this id. Transcripts repeat a response with growing figures: the largest count.
CREATE TABLE usage (
    id INTEGER PRIMARY KEY,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL
) STRICT;

CREATE TABLE signal (
    id INTEGER PRIMARY KEY,
    transcript_id INTEGER NOT NULL REFERENCES transcript (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    line INTEGER NOT NULL,
    at INTEGER,
    thread TEXT,
    confidence REAL NOT NULL,
    detail TEXT NOT NULL,
    evidence TEXT NOT NULL,             -- JSON: lines, ascending
    provisional INTEGER NOT NULL
) STRICT;
CREATE INDEX signal_transcript ON signal (transcript_id);

CREATE TABLE finding (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    source TEXT NOT NULL,               -- who found it: 'signals'
    kind TEXT NOT NULL,
    severity INTEGER NOT NULL,
    at INTEGER,
    body TEXT NOT NULL                  -- JSON: the finding
) STRICT;
CREATE INDEX finding_session ON finding (session_id);

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
