-- Pauses. What was said in one is not stored; this is what is, so that it stays so.

-- Events of the transcript that were dropped.
ALTER TABLE transcript ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;

-- Where the looking for pauses stood at the checkpoint: JSON. NULL: it was not looked for yet.
ALTER TABLE checkpoint ADD COLUMN sieve TEXT;

-- Keys of dropped events, hashed as those of stored ones: older tools copy a session's history under new times.
CREATE TABLE dropped (
    key INTEGER NOT NULL,
    transcript_id INTEGER NOT NULL REFERENCES transcript (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    PRIMARY KEY (key, transcript_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dropped_transcript ON dropped (transcript_id);
