; C. Roles and heads: language.py. Which definitions are static, and where a name lives, is worked out in c.py.

; --- functions: plain, behind one or two pointers, in parentheses, returning a pointer to a function
(function_definition type: (_) @type
  declarator: (function_declarator declarator: (identifier) @name parameters: (_) @args) body: (_) @body) @define.function
(function_definition type: (_) @type
  declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name parameters: (_) @args)) body: (_) @body) @define.function
(function_definition type: (_) @type
  declarator: (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name parameters: (_) @args))) body: (_) @body) @define.function
(function_definition type: (_) @type
  declarator: (function_declarator declarator: (parenthesized_declarator (identifier) @name) parameters: (_) @args) body: (_) @body) @define.function
(function_definition
  declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name parameters: (_) @args)))) body: (_) @body) @define.function
(declaration type: (_) @type
  declarator: (function_declarator declarator: (identifier) @name parameters: (_) @args)) @define.function_declaration
(declaration type: (_) @type
  declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name parameters: (_) @args))) @define.function_declaration
(declaration type: (_) @type
  declarator: (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name parameters: (_) @args)))) @define.function_declaration
(declaration type: (_) @type
  declarator: (function_declarator declarator: (parenthesized_declarator (identifier) @name) parameters: (_) @args)) @define.function_declaration
(declaration
  declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator
    declarator: (function_declarator declarator: (identifier) @name parameters: (_) @args))))) @define.function_declaration

; --- types
(struct_specifier name: (type_identifier) @name body: (_) @body) @define.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @define.union
(enum_specifier name: (type_identifier) @name body: (_) @body) @define.enum
(enumerator name: (identifier) @name value: (_)? @value) @define.enum_member
(type_definition type: (_) @type declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (type_identifier) @name))
  (array_declarator declarator: (type_identifier) @name)]) @define.typedef
(type_definition declarator: (function_declarator declarator: [
  (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))
  (type_identifier) @name])) @define.typedef.function
(type_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [
  (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))
  (type_identifier) @name]))) @define.typedef.function
(field_declaration type: (_) @type declarator: [
  (field_identifier) @name
  (pointer_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))
  (array_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: (array_declarator declarator: (field_identifier) @name))]) @define.field
(field_declaration declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (field_identifier) @name)))) @define.field.function
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (field_identifier) @name))))) @define.field.function

; --- macros
(preproc_def name: (identifier) @name value: (_)? @value) @define.macro
(preproc_function_def name: (identifier) @name parameters: (_) @args value: (_)? @value) @define.macro.function

; --- variables: of the file (c.py makes a global of those outside functions), of a function, parameters
(translation_unit (declaration type: (_) @type declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
  (init_declarator declarator: (identifier) @name value: (_) @value)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @name) value: (_) @value)
  (init_declarator declarator: (array_declarator declarator: (identifier) @name))
  (init_declarator declarator: (array_declarator declarator: (array_declarator declarator: (identifier) @name)))
  (init_declarator declarator: (pointer_declarator declarator: (array_declarator declarator: (identifier) @name)))
  ]) @define.global)
(translation_unit (declaration declarator: [
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  (init_declarator
    declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))) value: (_) @value)
  ]) @define.global)
([(preproc_ifdef (declaration type: (_) @type declarator: [
    (identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name value: (_) @value)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name) value: (_) @value)
    (init_declarator declarator: (array_declarator declarator: (identifier) @name))]) @define.global)
  (preproc_if (declaration type: (_) @type declarator: [
    (identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name value: (_) @value)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name) value: (_) @value)
    (init_declarator declarator: (array_declarator declarator: (identifier) @name))]) @define.global)
  (preproc_else (declaration type: (_) @type declarator: [
    (identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name value: (_) @value)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name) value: (_) @value)
    (init_declarator declarator: (array_declarator declarator: (identifier) @name))]) @define.global)
  (declaration_list (declaration type: (_) @type declarator: [
    (identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name value: (_) @value)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name) value: (_) @value)]) @define.global)])
(compound_statement (declaration type: (_) @type declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
  (init_declarator declarator: (identifier) @name value: (_) @value)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @name) value: (_) @value)
  (init_declarator declarator: (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name)) value: (_) @value)
  (init_declarator declarator: (array_declarator declarator: (identifier) @name))]) @bind)
(compound_statement (declaration declarator: [
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name)))
  (init_declarator
    declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @name))) value: (_) @value)]) @bind)
(for_statement initializer: (declaration type: (_) @type declarator: [
  (init_declarator declarator: (identifier) @name value: (_) @value)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @name) value: (_) @value)]) @bind)
(function_definition (declaration type: (_) @type declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))]) @bind.param)
(parameter_declaration type: (_) @type declarator: [
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))]) @bind.param
(parameter_declaration declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (identifier) @name)))) @bind.param

; --- imports
(preproc_include path: (string_literal) @path) @import.star
(preproc_include path: (system_lib_string) @path) @import.star.system

; --- calls
(call_expression function: (identifier) @name arguments: (_) @args) @call
(call_expression function: (field_expression argument: (_) @receiver field: (field_identifier) @name) arguments: (_) @args) @call
(call_expression function: (parenthesized_expression (identifier) @name) arguments: (_) @args) @call
(call_expression function: (parenthesized_expression (pointer_expression argument: (identifier) @name)) arguments: (_) @args) @call
(call_expression function: (parenthesized_expression (pointer_expression
  argument: (field_expression argument: (_) @receiver field: (field_identifier) @name))) arguments: (_) @args) @call
(call_expression function: (parenthesized_expression
  (field_expression argument: (_) @receiver field: (field_identifier) @name)) arguments: (_) @args) @call
(call_expression function: (subscript_expression argument: (identifier) @name) arguments: (_) @args) @call
(call_expression function: (subscript_expression argument:
  (field_expression argument: (_) @receiver field: (field_identifier) @name)) arguments: (_) @args) @call
(macro_type_specifier name: (identifier) @name) @call

; --- types (@ref.type.new: sizeof of a name that may be a variable; c.py drops those)
((type_identifier) @name @ref.type)
(sizeof_expression value: (parenthesized_expression (identifier) @name @ref.type.new))

; --- functions as values
(argument_list (identifier) @name @ref.use)
(argument_list (pointer_expression argument: (identifier) @name @ref.use))
(argument_list (cast_expression value: (identifier) @name @ref.use))
(initializer_pair value: (identifier) @name @ref.use)
(initializer_pair value: (pointer_expression argument: (identifier) @name @ref.use))
(initializer_list (identifier) @name @ref.use)
(initializer_list (pointer_expression argument: (identifier) @name @ref.use))
(init_declarator value: (identifier) @name @ref.use)
(assignment_expression right: (identifier) @name @ref.use)
(assignment_expression right: (pointer_expression argument: (identifier) @name @ref.use))
(return_statement (identifier) @name @ref.use)
(case_statement value: (identifier) @name @ref.use)

; --- strings and environment
(string_literal) @text @string
(call_expression function: (identifier) @_function arguments: (argument_list . (string_literal) @path)
  (#any-of? @_function "getenv" "secure_getenv" "setenv" "unsetenv" "_wgetenv")) @env
