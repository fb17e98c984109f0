; TOML. Roles and heads: language.py.
(pair . [(bare_key) (quoted_key) (dotted_key)] @name) @config.key
(table . [(bare_key) (quoted_key) (dotted_key)] @name) @config.table
(table_array_element . [(bare_key) (quoted_key) (dotted_key)] @name) @config.element
(array (_) @config.item)
