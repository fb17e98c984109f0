; JSX: an element is a call of its component. Names of plain elements (`<div>`) are dropped by the fix-up.
(jsx_opening_element name: (identifier) @name) @call
(jsx_opening_element name: (member_expression object: (_) @receiver property: (_) @name)) @call
(jsx_self_closing_element name: (identifier) @name) @call
(jsx_self_closing_element name: (member_expression object: (_) @receiver property: (_) @name)) @call
(jsx_expression (identifier) @name @ref.use)
(jsx_expression (member_expression object: (this) @receiver property: (property_identifier) @name) @ref.use)
