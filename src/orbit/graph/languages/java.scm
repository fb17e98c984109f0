; Java. Roles and heads: language.py.

; --- definitions
(package_declaration [(identifier) (scoped_identifier)] @name) @define.package.file
(class_declaration name: (identifier) @name body: (_) @body) @define.class
(interface_declaration name: (identifier) @name body: (_) @body) @define.interface
(enum_declaration name: (identifier) @name body: (_) @body) @define.enum
(record_declaration name: (identifier) @name parameters: (_) @args body: (_) @body) @define.record
(annotation_type_declaration name: (identifier) @name body: (_) @body) @define.annotation
(object_creation_expression type: (_) @type (class_body) @define.class.anonymous)
(enum_constant name: (identifier) @name body: (_)? @body) @define.enum_member
(method_declaration type: (_) @type name: (identifier) @name parameters: (_) @args body: (_)? @body) @define.method
(constructor_declaration name: (identifier) @name parameters: (_) @args body: (_) @body) @define.constructor
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @define.constructor.compact
(annotation_type_element_declaration type: (_) @type name: (identifier) @name) @define.method
(field_declaration type: (_) @type . declarator: (variable_declarator name: (identifier) @name)) @define.field
(field_declaration type: (_) @type (variable_declarator) . (variable_declarator name: (identifier) @name) @define.field.more)
(constant_declaration type: (_) @type . declarator: (variable_declarator name: (identifier) @name)) @define.field
(constant_declaration type: (_) @type (variable_declarator) . (variable_declarator name: (identifier) @name) @define.field.more)
(record_declaration parameters: (formal_parameters (formal_parameter type: (_) @type name: (identifier) @name) @define.field))
(record_declaration parameters: (formal_parameters (spread_parameter (_) @type . (variable_declarator name: (identifier) @name)) @define.field))

; --- what fix-ups read
(spread_parameter (variable_declarator name: (identifier) @name)) @mark.varargs
(type_parameter (type_identifier) @name) @mark.generic
(import_declaration "static") @mark.static
(method_declaration (modifiers [
  (marker_annotation name: (identifier) @_test)
  (annotation name: (identifier) @_test)])
  (#any-of? @_test "Test" "ParameterizedTest" "RepeatedTest" "TestFactory" "TestTemplate" "Theory" "Property")) @mark.test

; --- relations
(superclass (_) @type @name @relate.extends)
(super_interfaces (type_list (_) @type @name @relate.implements))
(extends_interfaces (type_list (_) @type @name @relate.extends))
(object_creation_expression type: (_) @type @name (class_body) @relate.extends)

; --- imports
(import_declaration (scoped_identifier scope: (_) @path name: (identifier) @name) .) @import
(import_declaration (identifier) @path .) @import
(import_declaration [(scoped_identifier) (identifier)] @path (asterisk)) @import.star

; --- calls
(method_invocation !object name: (identifier) @name arguments: (_) @args) @call
(method_invocation object: (_) @receiver name: (identifier) @name arguments: (_) @args) @call
(object_creation_expression type: (type_identifier) @name arguments: (_) @args) @call.new
(object_creation_expression type: (generic_type . (type_identifier) @name) arguments: (_) @args) @call.new
(object_creation_expression type: (scoped_type_identifier (_) @receiver (type_identifier) @name .) arguments: (_) @args) @call.new
(object_creation_expression type: (generic_type . (scoped_type_identifier (_) @receiver (type_identifier) @name .)) arguments: (_) @args) @call.new
(explicit_constructor_invocation constructor: (_) @name arguments: (_) @args) @call.new

; --- annotations, bounds, types
(marker_annotation name: (identifier) @name) @ref.type.decorator
(annotation name: (identifier) @name) @ref.type.decorator
(marker_annotation name: (scoped_identifier scope: (_) @receiver name: (identifier) @name)) @ref.type.decorator
(annotation name: (scoped_identifier scope: (_) @receiver name: (identifier) @name)) @ref.type.decorator
(type_bound (type_identifier) @name @ref.bound)
(type_bound (generic_type . (type_identifier) @name) @ref.bound)
(type_bound (scoped_type_identifier (_) @receiver (type_identifier) @name .) @ref.bound)
(scoped_type_identifier (_) @receiver (type_identifier) @name .) @ref.type
(record_pattern . (identifier) @name) @ref.type
(field_access object: (identifier) @name field: (this)) @ref.type
((type_identifier) @name @ref.type
  (#not-any-of? @name "var" "String" "Object" "Integer" "Long" "Boolean" "Double" "Float" "Short" "Byte" "Character" "Void"))

; --- names used as values
(method_reference . (_) @receiver (identifier) @name .) @ref.use
(method_reference . (identifier) @name "new") @ref.use
(field_access object: (identifier) @receiver field: (identifier) @name) @ref.use

; --- locals with a type in plain sight
(type_parameter (type_identifier) @name (type_bound . (_) @type)) @bind
(formal_parameter type: (_) @type name: (identifier) @name) @bind.param
(spread_parameter (_) @type . (variable_declarator name: (identifier) @name)) @bind.param
(lambda_expression parameters: (identifier) @name) @bind.param
(inferred_parameters (identifier) @name) @bind.param
(catch_formal_parameter (catch_type) @type name: (identifier) @name) @bind
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @name) (#not-eq? @type "var")) @bind
(local_variable_declaration type: (type_identifier) @_var declarator: (variable_declarator name: (identifier) @name value: (_) @value) (#eq? @_var "var")) @bind
(enhanced_for_statement type: (_) @type name: (identifier) @name (#not-eq? @type "var")) @bind.for
(enhanced_for_statement type: (type_identifier) @_var name: (identifier) @name value: (_) @value (#eq? @_var "var")) @bind.for
(resource type: (_) @type name: (identifier) @name (#not-eq? @type "var")) @bind.with
(resource type: (type_identifier) @_var name: (identifier) @name value: (_) @value (#eq? @_var "var")) @bind.with
(instanceof_expression right: (_) @type name: (identifier) @name) @bind
(type_pattern (_) @type . (identifier) @name) @bind
(record_pattern_component (_) @type . (identifier) @name (#not-eq? @type "var")) @bind
(record_pattern_component (type_identifier) @_var . (identifier) @name (#eq? @_var "var")) @bind

; --- strings and environment
(string_literal) @text @string
(method_invocation
  object: (identifier) @_class name: (identifier) @_method arguments: (argument_list . (string_literal) @path)
  (#eq? @_class "System") (#eq? @_method "getenv")) @env
