-- Built after the rows of a cold build, so that the rows go in at full speed.
CREATE UNIQUE INDEX text_value ON text (value);
CREATE INDEX symbol_name ON symbol (name);
CREATE INDEX symbol_qualified ON symbol (qualified);
CREATE INDEX symbol_owned ON symbol (name) WHERE owner >= 0;
CREATE INDEX symbol_member ON symbol (container, name);
CREATE INDEX file_module ON file (module);
CREATE INDEX file_partial ON file (id) WHERE broken != '[]' OR status & 3 != 0;
-- Contentless: rowid is the symbol's, string's or config's id. `parts` holds the words of camelCase and snake_case names.
CREATE VIRTUAL TABLE symbols_fts USING fts5 (name, parts, qualified, content='', contentless_delete=1, tokenize="unicode61 tokenchars '_'");
CREATE VIRTUAL TABLE strings_fts USING fts5 (value, content='', contentless_delete=1);
CREATE VIRTUAL TABLE configs_fts USING fts5 (key, content='', contentless_delete=1);
