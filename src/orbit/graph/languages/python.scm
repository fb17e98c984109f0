; Python. Roles and heads: language.py. Properties, flags from decorators, quoted annotations and commands are the table's fix-up.

; --- definitions
(function_definition name: (identifier) @name parameters: (_) @args return_type: (_)? @type body: (_) @body) @define.function
(class_definition name: (identifier) @name body: (_) @body) @define.class
(type_alias_statement left: (type (identifier) @name) right: (_) @type) @define.type_alias
(type_alias_statement left: (type (generic_type . (identifier) @name)) right: (_) @type) @define.type_alias
(assignment left: (identifier) @name type: (type (identifier) @_alias) right: (_) @type (#eq? @_alias "TypeAlias")) @define.type_alias
(assignment left: (identifier) @name type: (type (attribute attribute: (identifier) @_alias)) right: (_) @type (#eq? @_alias "TypeAlias")) @define.type_alias
(assignment left: (identifier) @name right: (subscript value: (identifier) @_generic) @type
  (#any-of? @_generic "Union" "Optional" "Callable" "Dict" "List" "Tuple" "Set" "Type" "Literal" "Annotated" "Mapping" "Sequence" "Iterable")) @define.type_alias
(assignment left: (identifier) @name right: (subscript value: (attribute object: (identifier) @_typing)) @type
  (#any-of? @_typing "t" "typing" "typing_extensions")) @define.type_alias
(assignment left: (identifier) @name right: (call function: (identifier) @_make arguments: (argument_list . (string) . (_) @type .))
  (#eq? @_make "NewType")) @define.type_alias
(assignment left: (identifier) @name type: (_)? @type right: (_)? @value) @define.const
(assignment left: (pattern_list (identifier) @name @define.const))

; --- base classes
(class_definition superclasses: (argument_list (identifier) @name @type @relate.extends))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @name) @type @relate.extends))
(class_definition superclasses: (argument_list (subscript value: (identifier) @name) @type @relate.extends))
(class_definition superclasses: (argument_list (subscript value: (attribute attribute: (identifier) @name)) @type @relate.extends))
(class_definition superclasses: (argument_list (subscript) @mark.annotation))

; --- imports
(import_statement name: (dotted_name) @path @import)
(import_statement name: (aliased_import name: (dotted_name) @path alias: (identifier) @alias) @import)
(import_from_statement module_name: (_) @path name: (dotted_name) @name @import)
(import_from_statement module_name: (_) @path name: (aliased_import name: (dotted_name) @name alias: (identifier) @alias) @import)
(import_from_statement module_name: (_) @path (wildcard_import) @import.star)

; --- names made public
(assignment left: (identifier) @_all
  right: [(list (string (string_content) @name @export)) (tuple (string (string_content) @name @export)) (binary_operator (list (string (string_content) @name @export)))]
  (#eq? @_all "__all__"))
(assignment left: (identifier) @_all right: (binary_operator (attribute object: (_) @value attribute: (identifier) @_of) @export.star)
  (#eq? @_all "__all__") (#eq? @_of "__all__"))
(augmented_assignment left: (identifier) @_all
  right: [(list (string (string_content) @name @export)) (tuple (string (string_content) @name @export))] (#eq? @_all "__all__"))
(augmented_assignment left: (identifier) @_all right: (attribute object: (_) @value attribute: (identifier) @_of) @export.star
  (#eq? @_all "__all__") (#eq? @_of "__all__"))
(expression_statement (call
  function: (attribute object: (identifier) @_all)
  arguments: (argument_list [(string (string_content) @name @export) (list (string (string_content) @name @export))]) (#eq? @_all "__all__")))

; --- calls
(decorator (call function: (identifier) @name arguments: (argument_list) @args) @call.decorator)
(decorator (call function: (attribute object: (_) @receiver attribute: (identifier) @name) arguments: (argument_list) @args) @call.decorator)
(call function: (identifier) @name arguments: [(argument_list) @args (generator_expression)]) @call
(call function: (attribute object: (_) @receiver attribute: (identifier) @name) arguments: [(argument_list) @args (generator_expression)]) @call
(call function: (subscript value: (identifier) @name) arguments: (argument_list) @args) @call
(call function: (subscript value: (attribute object: (_) @receiver attribute: (identifier) @name)) arguments: (argument_list) @args) @call

; --- types
(class_definition superclasses: (argument_list (identifier) @name @ref.type))
(class_definition superclasses: (argument_list (attribute object: (_) @receiver attribute: (identifier) @name) @ref.type))
(class_definition superclasses: (argument_list (keyword_argument value: (identifier) @name @ref.type)))
(type . (identifier) @name @ref.type
  (#not-any-of? @name "str" "int" "float" "bool" "bytes" "object" "list" "dict" "tuple" "set" "frozenset" "type" "complex" "Any" "None"))
(type . (attribute object: (_) @receiver attribute: (identifier) @name) @ref.type)
(generic_type . (identifier) @name @ref.type
  (#not-any-of? @name "list" "dict" "tuple" "set" "frozenset" "type" "Optional" "Union" "List" "Dict" "Tuple" "Set" "Callable" "Literal" "Type"))
(type . (binary_operator left: (identifier) @name @ref.type (#not-any-of? @name "str" "int" "float" "bool" "bytes" "object" "list" "dict" "tuple" "set")))
(type . (binary_operator right: (identifier) @name @ref.type (#not-any-of? @name "str" "int" "float" "bool" "bytes" "object" "list" "dict" "tuple" "set")))
(type . (binary_operator left: (attribute object: (_) @receiver attribute: (identifier) @name) @ref.type))
(type . (binary_operator right: (attribute object: (_) @receiver attribute: (identifier) @name) @ref.type))
(except_clause value: (identifier) @name @ref.type)
(except_clause value: (attribute object: (_) @receiver attribute: (identifier) @name) @ref.type)
(except_clause value: (tuple (identifier) @name @ref.type))
(except_clause value: (tuple (attribute object: (_) @receiver attribute: (identifier) @name) @ref.type))
(except_clause value: (as_pattern . (identifier) @name @ref.type))
(except_clause value: (as_pattern . (attribute object: (_) @receiver attribute: (identifier) @name) @ref.type))
(except_clause value: (as_pattern . (tuple (identifier) @name @ref.type)))
(except_clause value: (as_pattern . (tuple (attribute object: (_) @receiver attribute: (identifier) @name) @ref.type)))
(class_pattern . (dotted_name . (identifier) @name @ref.type .))
(class_pattern . (dotted_name . (identifier) @receiver . (identifier) @name @ref.type .))

; --- annotations that need reading: quoted, several alternatives, subscripts of a dotted name, parameter lists
(type . (string (string_content) @mark.annotation.quoted))
(type . (subscript) @mark.annotation)
(type . (list) @mark.annotation)
(type . (binary_operator left: [(binary_operator) (subscript) (string)]) @mark.annotation)
(type . (binary_operator right: [(subscript) (string)]) @mark.annotation)
(assignment left: (identifier) right: (subscript value: (identifier) @_generic) @mark.annotation
  (#any-of? @_generic "Union" "Optional" "Callable" "Dict" "List" "Tuple" "Set" "Type" "Annotated" "Mapping" "Sequence" "Iterable"))
(assignment left: (identifier) right: (subscript value: (attribute object: (identifier) @_typing)) @mark.annotation
  (#any-of? @_typing "t" "typing" "typing_extensions"))
(assignment left: (identifier) type: (type (identifier) @_alias) right: (string (string_content) @mark.annotation) (#eq? @_alias "TypeAlias"))

; --- decorators and names used as values
(decorator (identifier) @name @ref.use.decorator)
(decorator (attribute object: (_) @receiver attribute: (identifier) @name) @ref.use.decorator)
(argument_list [(identifier) @name (attribute object: (identifier) @receiver attribute: (identifier) @name)] @ref.use (#not-any-of? @name "self" "cls"))
(keyword_argument value: [(identifier) @name (attribute object: (identifier) @receiver attribute: (identifier) @name)] @ref.use (#not-any-of? @name "self" "cls"))
(assignment right: [(identifier) @name (attribute object: (identifier) @receiver attribute: (identifier) @name)] @ref.use (#not-any-of? @name "self" "cls"))
(pair value: [(identifier) @name (attribute object: (identifier) @receiver attribute: (identifier) @name)] @ref.use (#not-any-of? @name "self" "cls"))
(return_statement (identifier) @name @ref.use (#not-any-of? @name "self" "cls"))
(list (identifier) @name @ref.use)
(tuple (identifier) @name @ref.use)
(raise_statement (identifier) @name @ref.use)

; --- locals and members with a type in plain sight, and the names that are local without one
(parameters (identifier) @name @bind.param (#not-any-of? @name "self" "cls"))
(lambda_parameters (identifier) @name @bind.param)
(typed_parameter . (identifier) @name type: (_) @type) @bind.param
(default_parameter name: (identifier) @name value: (_) @value) @bind.param
(typed_default_parameter name: (identifier) @name type: (_) @type) @bind.param
(list_splat_pattern (identifier) @name @bind)
(dictionary_splat_pattern (identifier) @name @bind.param)
(assignment left: (identifier) @name type: (_)? @type right: (_)? @value) @bind
(assignment left: (attribute object: (identifier) @_self attribute: (identifier) @name) type: (_)? @type right: (_)? @value
  (#any-of? @_self "self" "cls")) @bind.field
(assignment left: (identifier) @name
  right: [
    (boolean_operator right: (call) @value)
    (boolean_operator left: (_) @value right: [(identifier) (attribute)])
    (conditional_expression . (call) @value)
    (conditional_expression . [(identifier) (attribute) (none)] . (_) . (call) @value .)
    (conditional_expression . [(identifier) (attribute)] @value . (_) . [(identifier) (attribute) (none)] .)
    (parenthesized_expression (conditional_expression . (call) @value))
    (parenthesized_expression (conditional_expression . [(identifier) (attribute) (none)] . (_) . (call) @value .))
    (assignment right: (_) @value)
  ]) @bind
(assignment left: (attribute object: (identifier) @_self attribute: (identifier) @name)
  right: [
    (boolean_operator right: (call) @value)
    (boolean_operator left: (_) @value right: [(identifier) (attribute)])
    (conditional_expression . (call) @value)
    (conditional_expression . [(identifier) (attribute) (none)] . (_) . (call) @value .)
    (conditional_expression . [(identifier) (attribute)] @value . (_) . [(identifier) (attribute) (none)] .)
  ] (#any-of? @_self "self" "cls")) @bind.field
(pattern_list (attribute object: (identifier) @_self attribute: (identifier) @name) (#any-of? @_self "self" "cls")) @bind.field
(named_expression name: (identifier) @name value: (_) @value) @bind
(pattern_list (identifier) @name @bind)
(tuple_pattern (identifier) @name @bind)
(list_pattern (identifier) @name @bind)
(for_statement left: (identifier) @name right: (_) @value) @bind.for
(for_in_clause left: (identifier) @name right: (_) @value) @bind.for
(for_statement left: (pattern_list (identifier) . (identifier) @name)
  right: (call function: (identifier) @_enumerate arguments: (argument_list . (_) @value)) (#eq? @_enumerate "enumerate")) @bind.for
(for_statement left: (pattern_list (identifier) . (identifier) @name)
  right: (call function: (attribute object: (_) @value attribute: (identifier) @_items)) (#eq? @_items "items")) @bind.for
(for_in_clause left: (pattern_list (identifier) . (identifier) @name)
  right: (call function: (identifier) @_enumerate arguments: (argument_list . (_) @value)) (#eq? @_enumerate "enumerate")) @bind.for
(for_in_clause left: (pattern_list (identifier) . (identifier) @name)
  right: (call function: (attribute object: (_) @value attribute: (identifier) @_items)) (#eq? @_items "items")) @bind.for
(with_item value: (as_pattern . (_) @value alias: (as_pattern_target (identifier) @name))) @bind.with
(with_item value: (parenthesized_expression (as_pattern . (_) @value alias: (as_pattern_target (identifier) @name)))) @bind.with
(as_pattern_target (tuple (identifier) @name @bind))
(except_clause value: (as_pattern . (_) @type alias: (as_pattern_target (identifier) @name))) @bind
(case_pattern (as_pattern (case_pattern (class_pattern . (dotted_name) @type)) (identifier) @name)) @bind
(case_pattern . (dotted_name . (identifier) @name @bind .))
(keyword_pattern (dotted_name . (identifier) @name @bind .))
(splat_pattern (identifier) @name @bind)
(function_definition type_parameters: (type_parameter (type . (identifier) @name @bind)))
(class_definition type_parameters: (type_parameter (type . (identifier) @name @bind)))
(type_parameter (type . (constrained_type . (type . (identifier) @name @bind))))
(return_statement "return" @name [(call) (attribute) (identifier)] @value) @bind.return
(global_statement (identifier) @name) @mark.global
(nonlocal_statement (identifier) @name) @mark.nonlocal

; --- what the fix-up reads: decorators, and calls that nest commands
(decorator (identifier) @name) @mark.decorator
(decorator (attribute object: (_) @receiver attribute: (identifier) @name)) @mark.decorator
(decorator (call function: (identifier) @name)) @mark.decorator
(decorator (call function: (attribute object: (_) @receiver attribute: (identifier) @name))) @mark.decorator
(expression_statement (call
  function: (attribute object: (_) @receiver attribute: (identifier) @name) arguments: (argument_list . (_) @value)
    (#any-of? @name "add_command" "add_typer"))) @mark.nest
(call
  function: (call function: (attribute object: (_) @receiver attribute: (identifier) @name)) arguments: (argument_list . (_) @value)
    (#any-of? @name "command" "group")) @mark.nest

; --- strings and environment
(string) @text @string
(subscript value: (attribute object: (identifier) @_os attribute: (identifier) @_environ) subscript: (string) @path
  (#eq? @_os "os") (#eq? @_environ "environ")) @env
(subscript value: (identifier) @_environ subscript: (string) @path (#eq? @_environ "environ")) @env
(call function: (attribute object: (identifier) @_os attribute: (identifier) @_getenv) arguments: (argument_list . (string) @path)
  (#any-of? @_os "os" "environ") (#any-of? @_getenv "getenv" "putenv" "unsetenv" "get" "pop" "setdefault")) @env
(call function: (attribute object: (attribute object: (identifier) @_os attribute: (identifier) @_environ)) arguments: (argument_list . (string) @path)
  (#eq? @_os "os") (#eq? @_environ "environ")) @env
(call function: (identifier) @_getenv arguments: (argument_list . (string) @path) (#eq? @_getenv "getenv")) @env
(comparison_operator (string) @path (attribute object: (identifier) @_os attribute: (identifier) @_environ) (#eq? @_os "os") (#eq? @_environ "environ")) @env
