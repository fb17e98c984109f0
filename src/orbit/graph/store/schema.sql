-- Physical tables are normalised; what other programs read are the views below, under the documented names.
-- Ids of a file's rows carry the file: symbol, relation, import and command rows are file << 20 | n; ref, string and config rows file << 24 | n.
-- No index by file is needed.

CREATE TABLE text (id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    lang TEXT NOT NULL,
    module INTEGER NOT NULL,          -- text
    hash BLOB NOT NULL,               -- xxh3-128 of the bytes
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    extracted_at INTEGER NOT NULL,    -- epoch ns
    status INTEGER NOT NULL,          -- bits of orbit_native.capture
    broken TEXT NOT NULL,             -- JSON [[start, end], ...]: ranges that did not parse
    is_test INTEGER NOT NULL,
    is_generated INTEGER NOT NULL
) STRICT;

CREATE TABLE symbol (
    id INTEGER PRIMARY KEY,
    name INTEGER NOT NULL,            -- text
    qualified INTEGER NOT NULL,       -- text
    container INTEGER NOT NULL,       -- text: qualified name of what it is a member of
    kind INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    name_start INTEGER NOT NULL,
    parent INTEGER,                   -- symbol
    signature TEXT NOT NULL,
    type INTEGER NOT NULL,            -- text: canonical declared type, -1
    value INTEGER NOT NULL,           -- text: canonical initialiser, -1
    owner INTEGER NOT NULL,           -- text: canonical type it belongs to, -1
    argc INTEGER NOT NULL,
    flags INTEGER NOT NULL
) STRICT;

CREATE TABLE ref (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    confidence INTEGER NOT NULL,
    name INTEGER NOT NULL,            -- text
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    line INTEGER NOT NULL,
    scope INTEGER,                    -- symbol that encloses it
    target INTEGER,                   -- text: qualified name
    target_file INTEGER
) STRICT;

CREATE TABLE relation (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    confidence INTEGER NOT NULL,
    source INTEGER NOT NULL,          -- text: qualified name
    target INTEGER NOT NULL,          -- text: qualified name, or as written when unresolved
    name INTEGER NOT NULL,            -- text: last part of the target as written
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    line INTEGER NOT NULL,
    scope INTEGER NOT NULL,           -- n of the enclosing symbol in the file, -1
    owner INTEGER NOT NULL,           -- text: canonical type, -1
    written INTEGER NOT NULL          -- text: canonical type as written
) STRICT;

CREATE TABLE import (
    id INTEGER PRIMARY KEY,
    path INTEGER NOT NULL,            -- text: as written
    name INTEGER NOT NULL,            -- text, -1: the whole module
    alias INTEGER NOT NULL,           -- text, -1
    flags INTEGER NOT NULL,
    module INTEGER NOT NULL,          -- text: qualified module it means, -1: outside the worktree
    local INTEGER NOT NULL,           -- text: the name it binds in the file, -1
    scope INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    line INTEGER NOT NULL
) STRICT;

CREATE TABLE command (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,               -- its own name
    full_name TEXT NOT NULL,          -- with the groups it hangs on
    start INTEGER NOT NULL,
    line INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    handler INTEGER NOT NULL,         -- text: canonical expression, -1
    grouped INTEGER NOT NULL,         -- text: canonical expression of the group, -1
    target INTEGER,                   -- text: qualified name of the handler
    target_file INTEGER,
    item INTEGER,                     -- what it declares, what that hangs on, what hangs on it unnamed: file << 32 | text of the qualified name,
    outer INTEGER,                    -- or below zero: text of the expression
    held INTEGER
) STRICT;

CREATE TABLE string (id INTEGER PRIMARY KEY, line INTEGER NOT NULL, value TEXT NOT NULL, scope INTEGER) STRICT;         -- scope: symbol
CREATE TABLE config (id INTEGER PRIMARY KEY, line INTEGER NOT NULL, key INTEGER NOT NULL, kind INTEGER NOT NULL) STRICT;  -- key, kind: text

-- What resolving a file again needs besides the rows above: tables of integers, packed.
CREATE TABLE facts (file INTEGER PRIMARY KEY, binds BLOB NOT NULL, exports BLOB NOT NULL, refs BLOB NOT NULL) STRICT;

-- Which names (and modules) a file's resolution looked up, and those of its references without a target.
CREATE TABLE uses (name INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (name, file)) STRICT, WITHOUT ROWID;

-- The same by file, sorted and packed; and fingerprints of the names with where they were looked up (`orbit_native.catalogue.fingerprint`): in a
-- container, in a file, or among modules. A file is resolved again when what one of them means there may have changed.
CREATE TABLE used (file INTEGER PRIMARY KEY, names BLOB NOT NULL, prints BLOB NOT NULL) STRICT;

-- size and mtime_ns: of a file that was read and found to be no source, so that it is not read again; else -1
CREATE TABLE skipped (path TEXT PRIMARY KEY, reason TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL, sort TEXT NOT NULL) STRICT;   -- names behind the kind and confidence codes

CREATE VIEW files AS
    SELECT path, hash AS content_hash, mtime_ns, lang, size AS byte_len, extracted_at FROM file;
CREATE VIEW symbols AS
    SELECT symbol.id, file.path AS file_path, n.value AS name, q.value AS qualified, kind.name AS kind, start AS span_start, end AS span_end,
           signature, parent AS parent_symbol, line, end_line
    FROM symbol JOIN file ON file.id = symbol.id >> 20 JOIN text n ON n.id = symbol.name JOIN text q ON q.id = symbol.qualified
    JOIN kind ON kind.id = symbol.kind AND kind.sort = 'symbol';
CREATE VIEW refs AS
    SELECT ref.id, file.path AS from_file, ref.start AS from_span_start, ref.end AS from_span_end, n.value AS target_name, t.value AS target_qualified,
           (SELECT s.id FROM symbol s WHERE s.qualified = ref.target AND s.id >> 20 = ref.target_file
            ORDER BY s.kind = 18 OR s.kind BETWEEN 21 AND 29, s.id LIMIT 1) AS target_symbol_hint,   -- the function, not its prototype or a field
           k.name AS kind, c.name AS confidence, ref.line
    FROM ref JOIN file ON file.id = ref.id >> 24 JOIN text n ON n.id = ref.name LEFT JOIN text t ON t.id = ref.target
    JOIN kind k ON k.id = 1000 + ref.kind JOIN kind c ON c.id = 3000 + ref.confidence;
CREATE VIEW relations AS
    SELECT relation.id, s.value AS from_qualified, t.value AS to_qualified, k.name AS kind, file.path AS def_file, start AS def_span_start,
           end AS def_span_end, c.name AS confidence, line
    FROM relation JOIN file ON file.id = relation.id >> 20 JOIN text s ON s.id = relation.source JOIN text t ON t.id = relation.target
    JOIN kind k ON k.id = 2000 + relation.kind JOIN kind c ON c.id = 3000 + relation.confidence;
CREATE VIEW imports AS
    SELECT file.path AS from_file, p.value AS target_path, n.value AS target_symbol, import.line,
           (SELECT min(f.path) FROM file f WHERE f.module = import.module AND import.module >= 0) AS resolved_file
    FROM import JOIN file ON file.id = import.id >> 20 JOIN text p ON p.id = import.path LEFT JOIN text n ON n.id = import.name;
CREATE VIEW commands AS
    SELECT full_name AS name, file.path AS file_path, start AS span_start,
           (SELECT s.id FROM symbol s WHERE s.qualified = command.target AND s.id >> 20 = command.target_file ORDER BY s.id LIMIT 1) AS handler_symbol
    FROM command JOIN file ON file.id = command.id >> 20 WHERE full_name != '';   -- without rows that only join others
CREATE VIEW strings AS
    SELECT string.id, file.path AS file_path, line, value, scope AS context_symbol
    FROM string JOIN file ON file.id = string.id >> 24;
CREATE VIEW configs AS
    SELECT config.id, file.path AS file_path, line, k.value AS key, t.value AS kind
    FROM config JOIN file ON file.id = config.id >> 24 JOIN text k ON k.id = config.key JOIN text t ON t.id = config.kind;
