; JavaScript, after ecmascript.scm and jsx.scm. Roles and heads: language.py.

; --- functions and classes, also bound to a name
(function_declaration name: (identifier) @name parameters: (_) @args body: (_) @body) @define.function
(generator_function_declaration name: (identifier) @name parameters: (_) @args body: (_) @body) @define.function
(variable_declarator name: (identifier) @name
  value: [(arrow_function parameters: (_)? @args body: (_) @body)
    (function_expression parameters: (_) @args body: (_) @body)
    (generator_function parameters: (_) @args body: (_) @body)]) @define.function
(export_statement "default" @name
  value: [(arrow_function parameters: (_)? @args body: (_) @body) (function_expression !name parameters: (_) @args body: (_) @body)]) @define.function
(export_statement "default" value: (function_expression name: (identifier) @name parameters: (_) @args body: (_) @body) @define.function)
(arguments (function_expression name: (identifier) @name parameters: (_) @args body: (_) @body) @define.function)
(class_declaration name: (_) @name body: (_) @body) @define.class
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @define.class
(export_statement "default" @name value: (class !name body: (_) @body)) @define.class
(return_statement (class name: (_) @name body: (_) @body) @define.class)
(assignment_expression left: (member_expression object: (_) @owner property: (_) @name) right: (class body: (_) @body)) @define.class.assigned

; --- members
(method_definition "get" name: (_) @name parameters: (_) @args body: (_) @body) @define.property.get
(method_definition "set" name: (_) @name parameters: (_) @args body: (_) @body) @define.property.set
(method_definition name: (_) @name parameters: (_) @args body: (_) @body) @define.method
(field_definition property: (_) @name
  value: [(arrow_function parameters: (_)? @args body: (_) @body) (function_expression parameters: (_) @args body: (_) @body)]) @define.method
(pair key: [(property_identifier) (string)] @name
  value: [(arrow_function parameters: (_)? @args body: (_) @body) (function_expression parameters: (_) @args body: (_) @body)]) @define.method
(assignment_expression left: (member_expression object: (_) @owner property: (_) @name)
  right: [(arrow_function parameters: (_)? @args body: (_) @body) (function_expression parameters: (_) @args body: (_) @body)]) @define.method.assigned
; `Foo.prototype = { bar() {} }`: bar is a method of Foo
(assignment_expression left: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
  right: (object (method_definition name: (_) @name parameters: (_) @args body: (_) @body) @define.method)
  (#eq? @_prototype "prototype"))
(assignment_expression left: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
  right: (object (pair key: (property_identifier) @name
    value: [(arrow_function parameters: (_)? @args body: (_) @body) (function_expression parameters: (_) @args body: (_) @body)]) @define.method)
  (#eq? @_prototype "prototype"))
(field_definition property: (_) @name value: (_)? @value) @define.property

; --- constants and variables of a module
(program (lexical_declaration kind: "const"
  (variable_declarator name: (identifier) @name value: [(call_expression function: (identifier) @_load) (member_expression object: (call_expression function: (identifier) @_load)) (_)]? @value) @define.const)
  (#not-eq? @_load "require"))
(export_statement declaration: (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name value: (_)? @value) @define.const))
(program (lexical_declaration kind: "const" (variable_declarator
  name: [(object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)] @define.const)
    (array_pattern (identifier) @name @define.const)]
  value: [(call_expression function: (identifier) @_load) (await_expression (call_expression function: (import) @_load)) (_)]))
  (#not-any-of? @_load "require" "import"))
(export_statement declaration: (lexical_declaration kind: "const" (variable_declarator
  name: [(object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)] @define.const)
    (array_pattern (identifier) @name @define.const)])))
(export_statement "default" @name
  value: [(object) (array) (call_expression) (new_expression) (await_expression) (string) (template_string)] @value) @define.const
(program (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name value: (_)? @value) @define.var))
(program (variable_declaration
  (variable_declarator name: (identifier) @name value: [(call_expression function: (identifier) @_load) (member_expression object: (call_expression function: (identifier) @_load)) (_)]? @value) @define.var)
  (#not-eq? @_load "require"))
(export_statement declaration: (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name value: (_)? @value) @define.var))
(export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name value: (_)? @value) @define.var))

; --- relations, each with a reference to the type
(class_heritage [(identifier) (member_expression)] @type @name @relate.extends)
(class_heritage (identifier) @name @ref.type)
(class_heritage (member_expression object: (_) @receiver property: (_) @name) @ref.type)

; --- locals
(formal_parameters (identifier) @name @bind.param)
(formal_parameters (assignment_pattern left: (identifier) @name right: (_) @value) @bind.param)
(formal_parameters (rest_pattern (identifier) @name) @bind.param)
(formal_parameters (object_pattern) @mark.pattern.param)
(formal_parameters (assignment_pattern left: (object_pattern) @mark.pattern.param))
(variable_declarator name: (identifier) @name value: (_)? @value) @bind
(catch_clause parameter: (identifier) @name @bind)
(call_expression function: (member_expression object: (_) @value property: (property_identifier) @_each)
  arguments: (arguments . [(arrow_function parameters: (formal_parameters . (identifier) @name @bind.for)) (function_expression parameters: (formal_parameters . (identifier) @name @bind.for))])
  (#any-of? @_each "forEach" "map" "filter" "find" "findLast" "findIndex" "some" "every" "flatMap"))
(call_expression function: (member_expression object: (_) @value property: (property_identifier) @_then)
  arguments: (arguments . [(arrow_function parameters: (formal_parameters . (identifier) @name @bind)) (function_expression parameters: (formal_parameters . (identifier) @name @bind))])
  (#eq? @_then "then"))
