; JSON. Roles and heads: language.py.
(pair key: (string) @name) @config.key
(array (_) @config.item)
