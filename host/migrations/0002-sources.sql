-- 1: the person named this transcript, so it may be read though it lies in no place that its adapter was granted.
ALTER TABLE transcript ADD COLUMN named INTEGER NOT NULL DEFAULT 0;

-- To find what another version of an adapter dealt with without reading what this one did.
CREATE INDEX transcript_producer ON transcript (adapter, parsed_by);

-- Databases of tools, as they were when all their sessions were queued or known: one that is unchanged has nothing new.
CREATE TABLE source (
    adapter TEXT NOT NULL,
    path TEXT NOT NULL,
    stamp TEXT NOT NULL,
    PRIMARY KEY (adapter, path)
) STRICT, WITHOUT ROWID;

-- What stands in the way besides single transcripts: places that cannot be looked at, analyzers that fail.
CREATE TABLE trouble (
    component TEXT NOT NULL,            -- the adapter or analyzer
    place TEXT NOT NULL,
    why TEXT NOT NULL,
    hint TEXT NOT NULL,                 -- what to do about it
    since INTEGER NOT NULL,
    PRIMARY KEY (component, place)
) STRICT, WITHOUT ROWID;
