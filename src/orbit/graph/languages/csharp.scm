; C#. Roles and heads: language.py. Types are plain identifiers in this grammar, so each place where a type may stand has its pattern.

; --- definitions
(file_scoped_namespace_declaration name: (_) @name) @define.namespace.file
(namespace_declaration name: (_) @name body: (_) @body) @define.namespace
(class_declaration name: (identifier) @name (parameter_list)? @args body: (_)? @body) @define.class
(struct_declaration name: (identifier) @name (parameter_list)? @args body: (_)? @body) @define.struct
(record_declaration name: (identifier) @name (parameter_list)? @args body: (_)? @body) @define.record
(interface_declaration name: (identifier) @name body: (_)? @body) @define.interface
(enum_declaration name: (identifier) @name body: (_)? @body) @define.enum
(enum_member_declaration name: (identifier) @name) @define.enum_member
(delegate_declaration type: (_) @type name: (identifier) @name parameters: (_) @args) @define.delegate
(method_declaration returns: (_) @type name: (identifier) @name parameters: (_) @args body: (_)? @body) @define.method
(constructor_declaration name: (identifier) @name parameters: (_) @args body: (_)? @body) @define.constructor
(destructor_declaration name: (identifier) @name parameters: (_) @args body: (_)? @body) @define.method.destructor
(operator_declaration type: (_) @type operator: _ @name parameters: (_) @args body: (_)? @body) @define.method.operator
(conversion_operator_declaration type: (_) @type parameters: (_) @args body: (_)? @body) @define.method.operator
(local_function_statement type: (_) @type name: (identifier) @name parameters: (_) @args body: (_)? @body) @define.function
(indexer_declaration type: (_) @type "this" @name accessors: (_)? @body value: (arrow_expression_clause)? @body) @define.property.indexer
(property_declaration type: (_) @type name: (identifier) @name accessors: (_)? @body value: (arrow_expression_clause)? @body) @define.property
(record_declaration (parameter_list (parameter type: (_) @type name: (identifier) @name) @define.property))
(event_declaration type: (_) @type name: (identifier) @name accessors: (_)? @body) @define.event
(event_field_declaration (variable_declaration type: (_) @type . (variable_declarator name: (identifier) @name))) @define.event
(event_field_declaration (variable_declaration type: (_) @type (variable_declarator) . (variable_declarator name: (identifier) @name) @define.event.more))
(field_declaration (variable_declaration type: (_) @type . (variable_declarator name: (identifier) @name))) @define.field
(field_declaration (variable_declaration type: (_) @type (variable_declarator) . (variable_declarator name: (identifier) @name) @define.field.more))

; --- what fix-ups read
(parameter_list type: (_) name: (identifier) @name) @mark.varargs
(parameter (modifier) @_this type: (_) @type (#eq? @_this "this")) @mark.extension
(parameter "=") @mark.defaults
(type_parameter name: (identifier) @name) @mark.generic
(using_directive "static") @mark.static
(using_directive "global") @mark.global
(constructor_declaration (modifier) @_static (#eq? @_static "static")) @mark.static
(class_declaration (modifier) @_partial (#eq? @_partial "partial")) @mark.partial
(struct_declaration (modifier) @_partial (#eq? @_partial "partial")) @mark.partial
(interface_declaration (modifier) @_partial (#eq? @_partial "partial")) @mark.partial
(record_declaration (modifier) @_partial (#eq? @_partial "partial")) @mark.partial
(method_declaration (attribute_list (attribute name: (identifier) @_test))
  (#any-of? @_test "Fact" "Theory" "Test" "TestCase" "TestCaseSource" "TestMethod" "DataTestMethod")) @mark.test

; --- relations; which of them are interfaces the fix-up tells by name
(base_list [(identifier) (qualified_name) (generic_name) (alias_qualified_name)] @type @name @relate.extends)
(base_list (primary_constructor_base_type type: (_) @type @name) @relate.extends)

; --- imports
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @path .) @import.star
(using_directive name: (identifier) @alias (_) @path .) @import

; --- calls
(invocation_expression function: (identifier) @name arguments: (_) @args (#not-eq? @name "nameof")) @call
(invocation_expression function: (generic_name . (identifier) @name) arguments: (_) @args) @call
(invocation_expression function: (member_access_expression expression: _ @receiver name: (identifier) @name) arguments: (_) @args) @call
(invocation_expression function: (member_access_expression expression: _ @receiver name: (generic_name . (identifier) @name)) arguments: (_) @args) @call
(invocation_expression
  function: (conditional_access_expression condition: _ @receiver (member_binding_expression name: (identifier) @name)) arguments: (_) @args) @call
(invocation_expression
  function: (conditional_access_expression condition: _ @receiver (member_binding_expression name: (generic_name . (identifier) @name)))
  arguments: (_) @args) @call
(object_creation_expression type: (identifier) @name arguments: (_)? @args) @call.new
(object_creation_expression type: (generic_name . (identifier) @name) arguments: (_)? @args) @call.new
(object_creation_expression type: (qualified_name qualifier: (_) @receiver name: (identifier) @name) arguments: (_)? @args) @call.new
(object_creation_expression type: (qualified_name qualifier: (_) @receiver name: (generic_name . (identifier) @name)) arguments: (_)? @args) @call.new
(variable_declaration type: (identifier) @name (variable_declarator (implicit_object_creation_expression (argument_list) @args))) @call.new
(variable_declaration type: (generic_name . (identifier) @name) (variable_declarator (implicit_object_creation_expression (argument_list) @args))) @call.new
(property_declaration type: (identifier) @name value: (implicit_object_creation_expression (argument_list) @args)) @call.new
(property_declaration type: (generic_name . (identifier) @name) value: (implicit_object_creation_expression (argument_list) @args)) @call.new
(constructor_initializer ["base" "this"] @name (argument_list) @args) @call.new
(primary_constructor_base_type type: (identifier) @name (argument_list) @args) @call.new
(primary_constructor_base_type type: (generic_name . (identifier) @name) (argument_list) @args) @call.new
(base_list (identifier) @name . (argument_list) @args) @call.new

; --- attributes, bounds
(attribute name: (identifier) @name) @ref.type.decorator
(attribute name: (qualified_name qualifier: (_) @receiver name: (identifier) @name)) @ref.type.decorator
(type_parameter_constraint type: (identifier) @name) @ref.bound
(type_parameter_constraint type: (generic_name . (identifier) @name)) @ref.bound

; --- types
(qualified_name qualifier: (_) @receiver name: (identifier) @name) @ref.type
(qualified_name qualifier: (_) @receiver name: (generic_name . (identifier) @name)) @ref.type
(generic_name . (identifier) @name) @ref.type
(type_argument_list (identifier) @name @ref.type)
(base_list (identifier) @name @ref.type)
(primary_constructor_base_type type: (identifier) @name) @ref.type
(parameter type: (identifier) @name) @ref.type
(variable_declaration type: (identifier) @name) @ref.type
(property_declaration type: (identifier) @name) @ref.type
(method_declaration returns: (identifier) @name) @ref.type
(local_function_statement type: (identifier) @name) @ref.type
(delegate_declaration type: (identifier) @name) @ref.type
(indexer_declaration type: (identifier) @name) @ref.type
(operator_declaration type: (identifier) @name) @ref.type
(conversion_operator_declaration type: (identifier) @name) @ref.type
(event_declaration type: (identifier) @name) @ref.type
(array_type type: (identifier) @name) @ref.type
(nullable_type type: (identifier) @name) @ref.type
(pointer_type type: (identifier) @name) @ref.type
(tuple_element type: (identifier) @name) @ref.type
(cast_expression type: (identifier) @name) @ref.type
(as_expression right: (identifier) @name) @ref.type
(is_expression right: (identifier) @name) @ref.type
(typeof_expression type: (identifier) @name) @ref.type
(default_expression type: (identifier) @name) @ref.type
(declaration_pattern type: (identifier) @name) @ref.type
(recursive_pattern type: (identifier) @name) @ref.type
(is_pattern_expression pattern: (constant_pattern (identifier) @name)) @ref.type
(declaration_expression type: (identifier) @name) @ref.type
(catch_declaration type: (identifier) @name) @ref.type
(foreach_statement type: (identifier) @name) @ref.type
(explicit_interface_specifier (identifier) @name) @ref.type

; --- names used as values; bare ones only when capitalised, as methods and members are (fix-up)
(invocation_expression function: (identifier) @_function arguments: (argument_list (argument (identifier) @name)) (#eq? @_function "nameof")) @ref.use
(argument (identifier) @name @ref.use)
(constant_pattern (identifier) @name @ref.use)
(assignment_expression operator: "+=" right: (identifier) @name) @ref.use
(member_access_expression expression: (identifier) @receiver name: (identifier) @name) @ref.use

; --- locals with a type in plain sight
(type_parameter_constraints_clause . (identifier) @name . (type_parameter_constraint type: (_) @type)) @bind
(parameter type: (_) @type name: (identifier) @name) @bind.param
(parameter !type name: (identifier) @name) @bind.param
(parameter_list type: (_) @type name: (identifier) @name) @bind.param
(implicit_parameter) @name @bind.param
(local_declaration_statement (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name)) (#not-eq? @type "var")) @bind
(local_declaration_statement (variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @name . (_)? @value))) @bind
(for_statement initializer: (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name)) (#not-eq? @type "var")) @bind
(for_statement initializer: (variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @name . (_)? @value))) @bind
(using_statement (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name)) (#not-eq? @type "var")) @bind.with
(using_statement (variable_declaration type: (implicit_type) (variable_declarator name: (identifier) @name . (_)? @value))) @bind.with
(fixed_statement (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name))) @bind
(foreach_statement type: (_) @type left: (identifier) @name (#not-eq? @type "var")) @bind.for
(foreach_statement type: (implicit_type) left: (identifier) @name right: (_) @value) @bind.for
(tuple_pattern name: (identifier) @name @bind)
(catch_declaration type: (_) @type name: (identifier) @name) @bind
(declaration_pattern type: (_) @type name: (identifier) @name (#not-eq? @type "var")) @bind
(declaration_pattern type: (implicit_type) name: (identifier) @name) @bind
(recursive_pattern type: (_) @type name: (identifier) @name) @bind
(var_pattern name: (identifier) @name) @bind
(declaration_expression type: (_) @type name: (identifier) @name (#not-eq? @type "var")) @bind
(declaration_expression type: (implicit_type) name: (identifier) @name) @bind
(from_clause name: (identifier) @name (_) @value .) @bind.for

; --- strings and environment
(string_literal) @text @string
(verbatim_string_literal) @text @string
(raw_string_literal) @text @string
(interpolated_string_expression) @text @string
(invocation_expression
  function: (member_access_expression name: (identifier) @_method) arguments: (argument_list . (argument (string_literal) @path))
  (#any-of? @_method "GetEnvironmentVariable" "SetEnvironmentVariable")) @env
