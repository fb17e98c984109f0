; Go. Roles and heads: language.py.

; --- definitions
(function_declaration name: (identifier) @name parameters: (_) @args result: (_)? @type body: (_)? @body) @define.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name parameters: (_) @args result: (_)? @type body: (_)? @body) @define.method
(type_spec name: (type_identifier) @name type: (struct_type) @body) @define.struct
(type_spec name: (type_identifier) @name type: (interface_type) @body) @define.interface
(type_spec name: (type_identifier) @name type: (_) @type) @define.type_alias
(type_alias name: (type_identifier) @name type: (_) @type) @define.type_alias
(field_declaration name: (field_identifier) @name type: (_) @type) @define.field
(method_elem name: (field_identifier) @name parameters: (_) @args result: (_)? @type) @define.method
(source_file (const_declaration (const_spec name: (identifier) @name type: (_)? @type value: (expression_list . (_) @value .)?) @define.const))
(source_file (var_declaration (var_spec name: (identifier) @name type: (_)? @type value: (expression_list . (_) @value .)?) @define.var))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name type: (_)? @type value: (expression_list . (_) @value .)?) @define.var)))

; --- relations: embedded structs and interfaces
(field_declaration !name type: [(type_identifier) (qualified_type) (generic_type)] @type @name @relate.extends)
(interface_type (type_elem . [(type_identifier) (qualified_type) (generic_type)] @type @name @relate.extends .))

; --- imports
(import_spec path: (interpreted_string_literal) @path !name) @import
(import_spec name: (package_identifier) @alias path: (interpreted_string_literal) @path) @import
(import_spec name: (dot) path: (interpreted_string_literal) @path) @import.star
(import_spec name: (blank_identifier) path: (interpreted_string_literal) @path) @import.side

; --- calls
(call_expression function: (identifier) @name arguments: (_) @args) @call
(call_expression function: (selector_expression operand: (_) @receiver field: (field_identifier) @name) arguments: (_) @args) @call
(call_expression function: (parenthesized_expression (identifier) @name) arguments: (_) @args) @call
(call_expression function: (index_expression operand: (identifier) @name) arguments: (_) @args) @call
(call_expression function: (index_expression operand: (selector_expression operand: (_) @receiver field: (field_identifier) @name)) arguments: (_) @args) @call
(type_conversion_expression type: (type_identifier) @name) @call
(type_conversion_expression type: (qualified_type package: (_) @receiver name: (_) @name)) @call
(type_instantiation_expression type: (type_identifier) @name) @call

; --- types
(qualified_type package: (package_identifier) @receiver name: (type_identifier) @name) @ref.type
((type_identifier) @name @ref.type
  (#not-any-of? @name "string" "int" "int8" "int16" "int32" "int64" "uint" "uint8" "uint16" "uint32" "uint64" "uintptr" "byte" "rune"
    "bool" "float32" "float64" "complex64" "complex128" "error" "any" "comparable"))

; --- function values and names used as arguments
(argument_list (identifier) @name @ref.use)
(argument_list (selector_expression operand: (identifier) @receiver field: (field_identifier) @name) @ref.use)
(keyed_element (literal_element (selector_expression operand: (identifier) @receiver field: (field_identifier) @name)) @ref.use)

; --- fields that an embedded type gives its name
(field_declaration !name type: [(type_identifier) @name (qualified_type name: (_) @name) (generic_type type: (type_identifier) @name)] @type) @bind.field

; --- locals with a type in plain sight
(parameter_declaration name: (identifier) @name type: (_) @type) @bind.param
(variadic_parameter_declaration name: (identifier) @name type: (_) @type) @bind.param
(var_spec name: (identifier) @name type: (_) @type) @bind
(var_spec name: (identifier) @name !type value: (expression_list . (_) @value)) @bind
(short_var_declaration left: (expression_list . (identifier) @name) right: (expression_list . (_) @value)) @bind
(short_var_declaration left: (expression_list . (identifier) @name .) right: (expression_list .
  (call_expression function: (identifier) @_new arguments: (argument_list . (_) @type .)) .) (#eq? @_new "new")) @bind
(func_literal) @mark.closure
(range_clause left: (expression_list (_) . (identifier) @name .) right: (_) @value) @bind.for
(assignment_statement left: (expression_list . (identifier) @name .) right: (expression_list . (_) @value .)) @bind

; --- strings and environment
(interpreted_string_literal) @text @string
(raw_string_literal) @text @string
(call_expression
  function: (selector_expression operand: (identifier) @_package field: (field_identifier) @_function)
  arguments: (argument_list . (interpreted_string_literal) @path)
  (#eq? @_package "os") (#any-of? @_function "Getenv" "LookupEnv" "Setenv" "Unsetenv")) @env
