-- Built after resolution.
CREATE INDEX ref_target ON ref (target) WHERE target IS NOT NULL;
CREATE INDEX relation_source ON relation (source);
CREATE INDEX relation_target ON relation (target);
CREATE INDEX relation_name ON relation (name);
CREATE INDEX import_module ON import (module);
CREATE INDEX command_name ON command (full_name);
