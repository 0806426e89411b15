-- Memory: what search returns, what was kept on purpose, and how sessions are kept in order.

-- Passages are what search returns. Each has a number that is never given twice, so that an index can say up to which one it
-- goes. A row is a run of them: events of a transcript that were stored together, parts of a memory or of a chunk, a session.
CREATE TABLE span (
    first INTEGER PRIMARY KEY,          -- number of its first passage
    count INTEGER NOT NULL,
    origin INTEGER NOT NULL,            -- 0 events, 1 a memory, 2 a chunk, 3 a session: `store/passage.rs`
    source INTEGER NOT NULL             -- id of the first event, or of the memory, chunk or session
) STRICT;
CREATE INDEX span_source ON span (origin, source);

-- Runs of numbers whose passages are gone, until the indexes have taken them out.
CREATE TABLE removal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL
) STRICT;

INSERT INTO span (first, count, origin, source)
    SELECT 1 + sum(events) OVER (ORDER BY transcript) - events, events, 0, transcript << 32
    FROM (SELECT id >> 32 AS transcript, 1 + max(id & 0xffffffff) AS events FROM event GROUP BY id >> 32);
INSERT INTO span (first, count, origin, source)
    SELECT (SELECT ifnull(max(first + count), 1) FROM span) - 1 + row_number() OVER (ORDER BY id), 1, 3, id FROM session;
INSERT INTO meta (key, value) SELECT 'next-passage', ifnull(max(first + count), 1) FROM span;

-- Which trigrams occur in the texts of a run of passages that are events: a Bloom filter of one hash, `search/trigrams.rs`. It is
-- derived, and tells what an expression cannot be found in.
CREATE TABLE trigram (
    first INTEGER PRIMARY KEY,          -- numbers of passages
    last INTEGER NOT NULL,
    filter BLOB NOT NULL
) STRICT;

-- Files that calls of tools were about, and what was done with them.
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE touch (
    file_id INTEGER NOT NULL REFERENCES file (id),
    transcript_id INTEGER NOT NULL REFERENCES transcript (id) ON DELETE CASCADE,
    calls INTEGER NOT NULL,             -- all calls about it, and of these the ones that changed it
    changes INTEGER NOT NULL,
    at INTEGER,                         -- of the latest
    PRIMARY KEY (file_id, transcript_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX touch_transcript ON touch (transcript_id);
-- Of what was read before, the next run of the worker counts them: `store/touch.rs`.
INSERT OR REPLACE INTO meta (key, value) SELECT 'files-counted', '0' WHERE EXISTS (SELECT 1 FROM transcript);

-- Statements that are remembered.
CREATE TABLE memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,          -- what people and agents call it: eight hexadecimal digits
    content TEXT NOT NULL,
    category TEXT NOT NULL,             -- 'general', 'decision', 'fact', 'preference', 'finding', 'todo'
    importance INTEGER NOT NULL,        -- 1 low, 2 medium, 3 high, 4 critical
    trust INTEGER NOT NULL,             -- whose word it is: 0 a tool's output, 1 the agent, 2 the person
    confidence REAL NOT NULL,           -- 0 to 1
    project TEXT,                       -- folder of the project it holds in; NULL: everywhere
    session TEXT,                       -- native id of the session it was said in
    domain TEXT, ticket TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    done_at INTEGER,                    -- a todo: since when it is done
    superseded_by INTEGER REFERENCES memory (id) ON DELETE SET NULL,
    superseded_at INTEGER,
    origin TEXT                         -- the program it was imported from, and its name there
) STRICT;
CREATE INDEX memory_origin ON memory (origin) WHERE origin IS NOT NULL;

-- Parts of conversations that were saved on purpose.
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,          -- date, project, number, and ticket and domain where there are any
    kind TEXT NOT NULL,                 -- 'session', 'snapshot', 'debug'
    summary TEXT NOT NULL,
    content TEXT,                       -- NULL: archived
    hash TEXT NOT NULL,                 -- of the text in lower case with single blanks: tells duplicates
    tokens INTEGER NOT NULL,            -- estimate
    project TEXT, session TEXT, domain TEXT, ticket TEXT,
    created_at INTEGER NOT NULL,
    origin TEXT
) STRICT;
CREATE INDEX chunk_hash ON chunk (hash);
CREATE INDEX chunk_session ON chunk (session) WHERE session IS NOT NULL;

-- Words by which memories, chunks and sessions are told apart besides their text.
CREATE TABLE mark (
    origin INTEGER NOT NULL,            -- as in `span`
    source INTEGER NOT NULL,
    sort TEXT NOT NULL CHECK (sort IN ('tag', 'entity', 'domain', 'ticket')),
    value TEXT NOT NULL,
    PRIMARY KEY (origin, source, sort, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX mark_value ON mark (sort, value);

-- How much something was looked at: a number that halves with time, as it was at a time.
CREATE TABLE access (
    origin INTEGER NOT NULL,
    source INTEGER NOT NULL,
    score REAL NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (origin, source)
) STRICT, WITHOUT ROWID;

-- What was put away: compressed, in no index, still to be found by title, marks and summary. A chunk's row has its text, a
-- session's says since when; the words of its events are in rows of origin 0, a block of events a row: `store/archive.rs`.
CREATE TABLE archive (
    origin INTEGER NOT NULL,
    source INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,             -- before it was compressed
    body BLOB NOT NULL,
    PRIMARY KEY (origin, source)
) STRICT, WITHOUT ROWID;

-- What the person says of a session.
ALTER TABLE session ADD COLUMN renamed TEXT;
-- Why nothing need be kept of it, and since when that is said.
ALTER TABLE session ADD COLUMN acknowledged TEXT;
ALTER TABLE session ADD COLUMN acknowledged_at INTEGER;
-- Since when nothing is left of what was said in it.
ALTER TABLE session ADD COLUMN purged_at INTEGER;

-- Transcripts whose sessions were deleted: they are never read again. The keys of their events are in `dropped`, under a time
-- before all times, so that copies of them in other transcripts are told.
CREATE TABLE deleted (
    adapter TEXT NOT NULL,
    path TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    tool TEXT NOT NULL,
    session TEXT NOT NULL,              -- as the tool names it: no other transcript makes it anew
    PRIMARY KEY (adapter, path, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_session ON deleted (tool, session);
