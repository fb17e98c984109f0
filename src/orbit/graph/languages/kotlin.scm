; Kotlin. Roles and heads: language.py. The grammar names few fields, so places are told by anchors.

; --- definitions
(package_header (qualified_identifier) @name) @define.package.file
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @define.interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name (enum_class_body)? @body) @define.enum
(class_declaration name: (identifier) @name (primary_constructor (class_parameters) @args)? [(class_body) (enum_class_body)]? @body) @define.class
(object_declaration name: (identifier) @name (class_body)? @body) @define.object
(companion_object name: (identifier)? @name (class_body)? @body) @define.companion_object
(object_literal (class_body) @body) @define.object.anonymous
(enum_entry (identifier) @name (class_body)? @body) @define.enum_member
(type_alias type: (identifier) @name (_) @type .) @define.type_alias
(secondary_constructor "constructor" @name (function_value_parameters) @args (block)? @body) @define.constructor
(function_declaration
  [(user_type) (nullable_type) (parenthesized_type)] @owner . name: (identifier) @name
  (function_value_parameters) @args . [(user_type) (nullable_type)]? @type (function_body)? @body) @define.function.extension
(function_declaration
  name: (identifier) @name (function_value_parameters) @args . [(user_type) (nullable_type)]? @type (function_body)? @body) @define.function
(property_declaration
  [(user_type) (nullable_type)] @owner . (variable_declaration . (identifier) @name . [(user_type) (nullable_type)]? @type)) @define.property.extension
(source_file (property_declaration (variable_declaration . (identifier) @name .) .
  (property_delegate (call_expression . (identifier) @_lazy (annotated_lambda (lambda_literal . (_) @value .)))) (#eq? @_lazy "lazy")) @define.property.computed)
(class_body (property_declaration (variable_declaration . (identifier) @name .) .
  (property_delegate (call_expression . (identifier) @_lazy (annotated_lambda (lambda_literal . (_) @value .)))) (#eq? @_lazy "lazy")) @define.property.computed)
(class_body (property_declaration (variable_declaration . (identifier) @name .) . (getter (function_body . (_) @value .))) @define.property.computed)
(source_file (property_declaration (variable_declaration . (identifier) @name . (_)? @type) .
  [(call_expression) (navigation_expression) (identifier) (as_expression) (string_literal) (number_literal)]? @value) @define.property)
(class_body (property_declaration (variable_declaration . (identifier) @name . (_)? @type) .
  [(call_expression) (navigation_expression) (identifier) (as_expression) (string_literal) (number_literal)]? @value) @define.property)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name . (_)? @type) .
  [(call_expression) (navigation_expression) (identifier) (as_expression) (string_literal) (number_literal)]? @value) @define.property)
(class_parameter ["val" "var"] (identifier) @name . (_) @type) @define.property

; --- what fix-ups read
(function_value_parameters (parameter_modifiers (parameter_modifier) @_vararg) . (parameter . (identifier) @name) @mark.varargs (#eq? @_vararg "vararg"))
(class_parameter (modifiers (parameter_modifier) @_vararg) (identifier) @name (#eq? @_vararg "vararg")) @mark.varargs
(function_value_parameters "=") @mark.defaults
(class_parameter "=") @mark.defaults
(type_parameter (identifier) @name) @mark.generic
(import "*") @mark.star
(call_expression . (navigation_expression . (_) @receiver (identifier) @_scope .) (annotated_lambda) @mark.receiver (#any-of? @_scope "apply" "run"))
(call_expression . (call_expression . (identifier) @_scope (value_arguments (value_argument . (_) @receiver))) (annotated_lambda) @mark.receiver
  (#eq? @_scope "with"))
(function_declaration (modifiers (annotation (user_type (identifier) @_test)))
  (#any-of? @_test "Test" "ParameterizedTest" "RepeatedTest" "TestFactory" "TestTemplate" "Theory")) @mark.test

; --- relations: a supertype with a constructor call is a class, the others are interfaces
(delegation_specifier (constructor_invocation . (user_type) @type @name) @relate.extends)
(delegation_specifier (user_type) @type @name) @relate.implements
(delegation_specifier (explicit_delegation . (user_type) @type @name)) @relate.implements

; --- imports
(import (qualified_identifier) @path .) @import
(import (qualified_identifier) @path (identifier) @alias) @import

; --- annotations
(annotation (user_type (identifier) @name .)) @ref.type.decorator
(annotation (constructor_invocation (user_type (identifier) @name .))) @ref.type.decorator
(file_annotation (constructor_invocation (user_type (identifier) @name .))) @ref.type.decorator

; --- calls; `macro` stands for a trailing lambda, one argument more: the fix-up counts it and drops the mark
(call_expression . (call_expression . (identifier) @name (value_arguments) @args) (annotated_lambda)) @call.macro
(call_expression . (call_expression . (navigation_expression . (_) @receiver (identifier) @name .) (value_arguments) @args) (annotated_lambda)) @call.macro
(call_expression . (identifier) @name (value_arguments) @args) @call
(call_expression . (identifier) @name (annotated_lambda) @args) @call
(call_expression . (navigation_expression . (_) @receiver (identifier) @name .) (value_arguments) @args) @call
(call_expression . (navigation_expression . (_) @receiver (identifier) @name .) (annotated_lambda) @args) @call
(binary_expression . (binary_expression . (identifier) @name "<" (identifier)) ">" (parenthesized_expression) @args) @call
(binary_expression . (binary_expression . (navigation_expression . (_) @receiver (identifier) @name .) "<" (identifier)) ">" (parenthesized_expression) @args) @call
(constructor_invocation . (user_type (identifier) @name . (type_arguments)? .) (value_arguments) @args) @call.new
(constructor_delegation_call ["this" "super"] @name (value_arguments) @args) @call.new

; --- bounds and types
(type_parameter (user_type . (identifier) @name)) @ref.bound
(type_constraint (user_type . (identifier) @name)) @ref.bound
(user_type (identifier) @receiver . (identifier) @name) @ref.type
((user_type . (identifier) @name) @ref.type
  (#not-any-of? @name "Int" "String" "Boolean" "Unit" "Any" "Long" "Double" "Float" "Short" "Byte" "Char" "Nothing" "UInt" "ULong"))
(binary_expression . (binary_expression (_) "<" (identifier) @name) ">" (parenthesized_expression)) @ref.type
(navigation_expression . (identifier) @name "::" (identifier) @_class (#eq? @_class "class")) @ref.type

; --- names used as values
(callable_reference (identifier) @name .) @ref.use
(navigation_expression . (_) @receiver "::" (identifier) @name . (#not-eq? @name "class")) @ref.use
(navigation_expression . (identifier) @receiver . (identifier) @name . (#not-eq? @name "class")) @ref.use

; --- locals with a type in plain sight
(type_parameter (identifier) @name . (_) @type) @bind
(type_constraint . (identifier) @name (_) @type .) @bind
(function_value_parameters (parameter . (identifier) @name . (_) @type) @bind.param)
(class_parameter (identifier) @name . (_) @type) @bind.param
(lambda_parameters (variable_declaration . (identifier) @name . (_)? @type) @bind.param)
(multi_variable_declaration (variable_declaration . (identifier) @name . (_)? @type) @bind)
(catch_block . (identifier) @name . (_) @type) @bind
(block (property_declaration (variable_declaration . (identifier) @name . (_) @type)) @bind)
(block (property_declaration (variable_declaration . (identifier) @name .) . (_)? @value) @bind)
(lambda_literal (property_declaration (variable_declaration . (identifier) @name . (_) @type)) @bind)
(lambda_literal (property_declaration (variable_declaration . (identifier) @name .) . (_)? @value) @bind)
(function_declaration name: (identifier) @name (function_value_parameters) . (function_body . [(call_expression) (navigation_expression)] @value .)) @bind.return
(for_statement . (variable_declaration . (identifier) @name . (_) @type)) @bind.for
(for_statement . (variable_declaration . (identifier) @name .) . (_) @value) @bind.for
(when_subject (variable_declaration . (identifier) @name) . (_) @value) @bind

; --- strings and environment
(string_literal) @text @string
(multiline_string_literal) @text @string
(call_expression
  . (navigation_expression . (identifier) @_class . (identifier) @_method .) (value_arguments . (value_argument (string_literal) @path))
  (#eq? @_class "System") (#eq? @_method "getenv")) @env
