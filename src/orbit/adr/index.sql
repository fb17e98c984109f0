-- The mirror of the decisions; never the truth. Raise VERSION in index.py with any change.
CREATE TABLE adrs (
    row INTEGER PRIMARY KEY, folder TEXT NOT NULL UNIQUE, number INTEGER NOT NULL, status TEXT NOT NULL, owner TEXT NOT NULL,
    last_updated TEXT NOT NULL, envelope_mtime INTEGER, envelope_size INTEGER, body_mtime INTEGER, body_size INTEGER,
    indexed_ns INTEGER NOT NULL, entry BLOB NOT NULL
) STRICT;
CREATE TABLE labels (row INTEGER NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL) STRICT;
CREATE INDEX labels_by_value ON labels (kind, value);
CREATE INDEX labels_by_row ON labels (row);
CREATE TABLE vectors (row INTEGER NOT NULL, embedder TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (row, embedder)) STRICT;
CREATE VIRTUAL TABLE words USING fts5(title, tags, body, tokenize='porter unicode61 remove_diacritics 2');
