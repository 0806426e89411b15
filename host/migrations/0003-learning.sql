-- The learning loop: what a model said, what the person decided about patterns, and the rules that came of it.

-- Every call of a model, from before it is made: one whose process was killed stays `running` and counts what was reserved for it.
CREATE TABLE call (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    purpose TEXT NOT NULL,              -- 'findings', 'draft', 'synth'
    subject TEXT NOT NULL,              -- what it is about, for a person: a session, a pattern
    command TEXT NOT NULL,              -- the program that was started
    model TEXT NOT NULL,                -- as asked for; once it has answered, as it says
    prompt TEXT NOT NULL,               -- hash of the instructions and the schema
    reserved_usd REAL NOT NULL,         -- what it may cost at most
    outcome TEXT NOT NULL CHECK (outcome IN ('running', 'ok', 'ok-empty', 'failed')),
    kind TEXT,                          -- kind of the failure, and its text
    why TEXT,
    duration_ms INTEGER,
    input_tokens INTEGER, output_tokens INTEGER,
    cost_usd REAL,                      -- as the program says; NULL: it does not, or it did not live to say it
    estimated_usd REAL                  -- by the prices in the settings, where it does not say
) STRICT;
CREATE INDEX call_at ON call (at);

-- What a model was asked about a session, and what became of it. No row: it was never looked at.
CREATE TABLE review (
    session_id INTEGER PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('done', 'skipped', 'failed')),
    why TEXT,                           -- why it was skipped, or failed
    kind TEXT,                          -- kind of the failure
    at INTEGER NOT NULL,
    covers TEXT NOT NULL,               -- the session as it was then: another value means that it went on since
    input TEXT,                         -- hash of what the model was shown of it
    prompt TEXT,                        -- hash of the instructions and the schema
    model TEXT,
    findings INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_try INTEGER                    -- failed and NULL: given up
) STRICT;

-- Patterns that something refers to: a rule, a decision of the person, a model's answer. They keep their id whatever older
-- findings are still to come, because the group of findings that has this key (or is alike to these words) is the pattern.
CREATE TABLE anchor (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    project TEXT,
    key TEXT NOT NULL,
    subject TEXT NOT NULL,
    category TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Decisions about patterns, in the order in which they were taken. Undone ones stay, with their time.
CREATE TABLE decision (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,                   -- 'person', 'similarity', 'model'
    run TEXT,                           -- those of one run of `synth` are undone together
    pattern TEXT NOT NULL REFERENCES anchor (id),
    act TEXT NOT NULL,                  -- JSON: merge, split, rename, mute, unmute
    undone_at INTEGER
) STRICT;

-- Drafted rules, and what became of them. An applied one is a rule in force.
CREATE TABLE proposal (
    id TEXT PRIMARY KEY,
    pattern TEXT NOT NULL REFERENCES anchor (id),
    status TEXT NOT NULL CHECK (status IN ('drafted', 'applied', 'rejected', 'reverted', 'stale')),
    created_at INTEGER NOT NULL,
    applied_at INTEGER,
    ended_at INTEGER,                   -- rejected, reverted or stale since
    body TEXT NOT NULL                  -- JSON: the proposal
) STRICT, WITHOUT ROWID;
CREATE INDEX proposal_pattern ON proposal (pattern);

-- Findings of another program's library, of sessions that need not be in this one. Joined to them by tool and id when read.
CREATE TABLE imported (
    id INTEGER PRIMARY KEY,
    origin TEXT NOT NULL,               -- the program
    tool TEXT NOT NULL,
    session TEXT NOT NULL,              -- as the tool names it
    pattern TEXT NOT NULL REFERENCES anchor (id),
    at INTEGER NOT NULL,
    body TEXT NOT NULL,                 -- JSON: the finding
    UNIQUE (origin, tool, session, pattern)
) STRICT;

-- What the other program had, under the name that it had there: as it was, redacted.
CREATE TABLE original (
    origin TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('pattern', 'proposal')),
    name TEXT NOT NULL,
    ours TEXT NOT NULL,                 -- what became of it: the id of an anchor, or of a proposal
    at INTEGER NOT NULL,
    body TEXT NOT NULL,                 -- JSON
    PRIMARY KEY (origin, kind, name, ours)
) STRICT, WITHOUT ROWID;
