; YAML. Roles and heads: language.py. Of rows with the same span the one named first here is the outer: documents, elements, keys.
(document) @config.document
(block_sequence_item) @config.item
(flow_sequence (flow_node) @config.item)
(flow_sequence (flow_pair) @config.item)
(block_mapping_pair key: (_) @name) @config.key
(flow_pair key: (_) @name) @config.key
(flow_mapping (flow_node) @name @config.key)
