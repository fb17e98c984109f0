; TypeScript and TSX, after ecmascript.scm. Roles and heads: language.py.

; --- functions and classes, also bound to a name
(function_declaration name: (identifier) @name parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body) @define.function
(generator_function_declaration name: (identifier) @name parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body) @define.function
(function_signature name: (identifier) @name parameters: (_) @args return_type: (type_annotation)? @type) @define.function.overload
(variable_declarator name: (identifier) @name
  value: [(arrow_function parameters: (_)? @args return_type: (type_annotation)? @type body: (_) @body)
    (function_expression parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body)
    (generator_function parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body)]) @define.function
(export_statement "default" @name
  value: [(arrow_function parameters: (_)? @args return_type: (type_annotation)? @type body: (_) @body)
    (function_expression !name parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body)]) @define.function
(export_statement "default" value: (function_expression name: (identifier) @name parameters: (_) @args body: (_) @body) @define.function)
(arguments (function_expression name: (identifier) @name parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body) @define.function)
(abstract_class_declaration name: (_) @name body: (_) @body) @define.class.abstract
(class_declaration name: (_) @name body: (_) @body) @define.class
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @define.class
(export_statement "default" @name value: (class !name body: (_) @body)) @define.class
(return_statement (class name: (_) @name body: (_) @body) @define.class)
(assignment_expression left: (member_expression object: (_) @owner property: (_) @name) right: (class body: (_) @body)) @define.class.assigned

; --- members
(method_definition "get" name: (_) @name parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body) @define.property.get
(method_definition "set" name: (_) @name parameters: (_) @args body: (_) @body) @define.property.set
(method_definition name: (_) @name parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body) @define.method
(abstract_method_signature name: (_) @name parameters: (_) @args return_type: (type_annotation)? @type) @define.method.abstract
(interface_body (method_signature "get" name: (_) @name parameters: (_) @args return_type: (type_annotation)? @type) @define.property.get)
(class_body (method_signature name: (_) @name parameters: (_) @args return_type: (type_annotation)? @type) @define.method.overload)
(interface_body (method_signature name: (_) @name parameters: (_) @args return_type: (type_annotation)? @type) @define.method.overload)
(type_alias_declaration
  value: (object_type (method_signature name: (_) @name parameters: (_) @args return_type: (type_annotation)? @type) @define.method.overload))
(public_field_definition name: (_) @name
  value: [(arrow_function parameters: (_)? @args return_type: (type_annotation)? @type body: (_) @body)
    (function_expression parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body)]) @define.method
(pair key: [(property_identifier) (string)] @name
  value: [(arrow_function parameters: (_)? @args return_type: (type_annotation)? @type body: (_) @body)
    (function_expression parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body)]) @define.method
(assignment_expression left: (member_expression object: (_) @owner property: (_) @name)
  right: [(arrow_function parameters: (_)? @args return_type: (type_annotation)? @type body: (_) @body)
    (function_expression parameters: (_) @args return_type: (type_annotation)? @type body: (_) @body)]) @define.method.assigned
(public_field_definition name: (_) @name type: (_)? @type value: (_)? @value) @define.property
(interface_body (property_signature name: (_) @name type: (_)? @type) @define.property)
(type_alias_declaration value: (object_type (property_signature name: (_) @name type: (_)? @type) @define.property))
(required_parameter (accessibility_modifier) pattern: (identifier) @name type: (_)? @type) @define.property.param
(required_parameter "readonly" pattern: (identifier) @name type: (_)? @type) @define.property.param
(optional_parameter (accessibility_modifier) pattern: (identifier) @name type: (_)? @type) @define.property.param

; --- types, enums, namespaces
(interface_declaration name: (_) @name body: (_) @body) @define.interface
(type_alias_declaration name: (_) @name value: (_) @type) @define.type_alias
(enum_declaration name: (_) @name body: (_) @body) @define.enum
(enum_body name: (_) @name @define.enum_member)
(enum_assignment name: (_) @name value: (_) @value) @define.enum_member
(internal_module name: (_) @name body: (_) @body) @define.namespace
(module name: (_) @name body: (_)? @body) @define.namespace

; --- constants and variables of a module or namespace
(program (lexical_declaration kind: "const"
  (variable_declarator name: (identifier) @name type: (_)? @type value: [(call_expression function: (identifier) @_load) (member_expression object: (call_expression function: (identifier) @_load)) (_)]? @value) @define.const)
  (#not-eq? @_load "require"))
(export_statement declaration: (lexical_declaration kind: "const"
  (variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @define.const))
(ambient_declaration (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name type: (_)? @type) @define.const))
(internal_module body: (statement_block (lexical_declaration kind: "const"
  (variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @define.const)))
(module body: (statement_block (lexical_declaration kind: "const"
  (variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @define.const)))
(program (lexical_declaration kind: "const" (variable_declarator
  name: [(object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)] @define.const)
    (array_pattern (identifier) @name @define.const)]
  value: [(call_expression function: (identifier) @_load) (await_expression (call_expression function: (import) @_load)) (_)]))
  (#not-any-of? @_load "require" "import"))
(export_statement declaration: (lexical_declaration kind: "const" (variable_declarator
  name: [(object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)] @define.const)
    (array_pattern (identifier) @name @define.const)])))
(export_statement "default" @name
  value: [(object) (array) (call_expression) (new_expression) (await_expression) (as_expression) (satisfies_expression) (string) (template_string)] @value
  ) @define.const
(program (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @define.var))
(program (variable_declaration
  (variable_declarator name: (identifier) @name type: (_)? @type value: [(call_expression function: (identifier) @_load) (member_expression object: (call_expression function: (identifier) @_load)) (_)]? @value) @define.var)
  (#not-eq? @_load "require"))
(export_statement declaration: (lexical_declaration kind: "let"
  (variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @define.var))
(export_statement declaration: (variable_declaration
  (variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @define.var))
(ambient_declaration (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name type: (_)? @type) @define.var))
(ambient_declaration (variable_declaration (variable_declarator name: (identifier) @name type: (_)? @type) @define.var))
(ambient_declaration (statement_block (variable_declaration (variable_declarator name: (identifier) @name type: (_)? @type) @define.var)))
(internal_module body: (statement_block (lexical_declaration kind: "let"
  (variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @define.var)))

; --- relations, each with a reference to the type
(extends_clause value: [(identifier) (member_expression)] @type @name @relate.extends)
(implements_clause [(type_identifier) (nested_type_identifier) (generic_type)] @type @name @relate.implements)
(extends_type_clause type: [(type_identifier) (nested_type_identifier) (generic_type)] @type @name @relate.extends)

; --- types
(constraint (type_identifier) @name @ref.bound)
(constraint (generic_type name: (type_identifier) @name) @ref.bound)
(constraint (nested_type_identifier module: (_) @receiver name: (_) @name) @ref.bound)
(constraint (generic_type name: (nested_type_identifier module: (_) @receiver name: (_) @name)) @ref.bound)
(nested_type_identifier module: (_) @receiver name: (type_identifier) @name) @ref.type.nested
(extends_clause value: (identifier) @name @ref.type)
(extends_clause value: (member_expression object: (_) @receiver property: (_) @name) @ref.type)
(type_identifier) @name @ref.type
(type_annotation [(lookup_type) (conditional_type)]) @mark.unknown
(type_alias_declaration value: [(lookup_type) (conditional_type)] @mark.unknown)
(type_query (identifier) @name @ref.use)
(type_query (member_expression object: (_) @receiver property: (_) @name) @ref.use)
(member_expression
  object: (call_expression function: (import) arguments: (arguments . (string) @path))
  property: (property_identifier) @name
  (#not-any-of? @name "then" "catch" "finally")) @import.type

; --- what only TypeScript imports, exports and calls
(import_statement "type") @mark.type
(export_statement "type") @mark.type
(import_specifier "type") @mark.type
(export_specifier "type") @mark.type
(import_require_clause (identifier) @alias source: (string) @path) @import.require
(export_statement "=" (identifier) @value) @export.commonjs
(export_statement declaration: (import_alias (identifier) @name (nested_identifier) @value)) @export
(export_statement declaration: [
  (function_signature name: (_) @name)
  (abstract_class_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (type_alias_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (internal_module name: (_) @name)]) @export
(export_statement declaration: (ambient_declaration [
  (function_signature name: (_) @name)
  (class_declaration name: (_) @name)
  (abstract_class_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (type_alias_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (internal_module name: (_) @name)
  (lexical_declaration (variable_declarator name: (_) @name))
  (variable_declaration (variable_declarator name: (_) @name))])) @export
(call_expression function: (non_null_expression (identifier) @name) arguments: (arguments) @args) @call
(call_expression function: (non_null_expression (member_expression object: (_) @receiver property: (_) @name)) arguments: (arguments) @args) @call

; --- locals
(required_parameter pattern: (identifier) @name type: (_)? @type value: (_)? @value) @bind.param
(optional_parameter pattern: (identifier) @name type: (_)? @type) @bind.param
(required_parameter pattern: (object_pattern) @mark.pattern.param type: (_) @type)
(required_parameter pattern: (this) @name type: (_) @type) @bind.param
(required_parameter pattern: (rest_pattern (identifier) @name) type: (_)? @type) @bind.param
(variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @bind
(catch_clause parameter: (identifier) @name type: (_)? @type) @bind
(call_expression function: [(identifier) (member_expression)] @value
  arguments: (arguments (arrow_function parameters: (formal_parameters (required_parameter pattern: (identifier) @name @bind.given !type)))))
(new_expression constructor: (identifier) @value
  arguments: (arguments (arrow_function parameters: (formal_parameters (required_parameter pattern: (identifier) @name @bind.given !type)))))
(type_parameter name: (type_identifier) @name constraint: (constraint (_) @type)?) @bind
(import_alias (identifier) @name [(identifier) (nested_identifier)] @value) @bind
(class name: (type_identifier) @name @bind)
(call_expression function: (member_expression object: (_) @value property: (property_identifier) @_each)
  arguments: (arguments . [(arrow_function parameters: (formal_parameters . (required_parameter pattern: (identifier) @name @bind.for !type))) (function_expression parameters: (formal_parameters . (required_parameter pattern: (identifier) @name @bind.for !type)))])
  (#any-of? @_each "forEach" "map" "filter" "find" "findLast" "findIndex" "some" "every" "flatMap"))
(call_expression function: (member_expression object: (_) @value property: (property_identifier) @_then)
  arguments: (arguments . [(arrow_function parameters: (formal_parameters . (required_parameter pattern: (identifier) @name @bind !type))) (function_expression parameters: (formal_parameters . (required_parameter pattern: (identifier) @name @bind !type)))])
  (#eq? @_then "then"))
