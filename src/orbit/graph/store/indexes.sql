-- Built after the rows of a cold build, so that the rows go in at full speed.
CREATE UNIQUE INDEX text_value ON text (value);
CREATE INDEX symbol_name ON symbol (name);
CREATE INDEX symbol_qualified ON symbol (qualified);
CREATE INDEX symbol_member ON symbol (container, name);
CREATE INDEX ref_target ON ref (target) WHERE target IS NOT NULL;
CREATE INDEX relation_source ON relation (source);
CREATE INDEX relation_target ON relation (target);
CREATE INDEX relation_name ON relation (name);
CREATE INDEX import_module ON import (module);
CREATE INDEX file_module ON file (module);
CREATE INDEX command_name ON command (full_name);
-- Contentless: rowid is the symbol's, string's or config's id. `parts` holds the words of camelCase and snake_case names.
CREATE VIRTUAL TABLE symbols_fts USING fts5 (name, parts, qualified, content='', contentless_delete=1, tokenize="unicode61 tokenchars '_'");
CREATE VIRTUAL TABLE strings_fts USING fts5 (value, content='', contentless_delete=1);
CREATE VIRTUAL TABLE configs_fts USING fts5 (key, content='', contentless_delete=1);
