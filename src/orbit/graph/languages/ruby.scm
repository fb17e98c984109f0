; Ruby. Roles and heads: language.py.

; --- definitions. `class A::B` carries A in role path, `def x.m` carries x.
(class name: (constant) @name body: (_)? @body) @define.class
(class name: (scope_resolution scope: (_)? @path name: (constant) @name) body: (_)? @body) @define.class
(module name: (constant) @name body: (_)? @body) @define.module
(module name: (scope_resolution scope: (_)? @path name: (constant) @name) body: (_)? @body) @define.module
(singleton_class value: (_) @name body: (_)? @body) @define.singleton_class
(method name: (_) @name parameters: (_)? @args body: (_)? @body) @define.method
(singleton_method object: (_) @path name: (_) @name parameters: (_)? @args body: (_)? @body) @define.singleton_method
(assignment left: (constant) @name
  right: (call receiver: (constant) @_maker method: (identifier) @_make block: (_)? @body)
  (#any-of? @_maker "Struct" "Class" "Data") (#any-of? @_make "new" "define")) @define.class.made
(assignment left: (constant) @name
  right: (call receiver: (constant) @_maker method: (identifier) @_make block: (_)? @body) (#eq? @_maker "Module") (#eq? @_make "new")) @define.module.made
(assignment left: (constant) @name right: (_) @value) @define.constant
(assignment left: (scope_resolution scope: (_)? @path name: (constant) @name) right: (_) @value) @define.constant
(left_assignment_list (constant) @name @define.constant)
(call !receiver method: (identifier) @_attr arguments: (argument_list [(simple_symbol) (string)] @name @define.method.attr)
  (#any-of? @_attr "attr_reader" "attr_writer" "attr_accessor" "attr"
    "cattr_accessor" "cattr_reader" "mattr_accessor" "mattr_reader" "class_attribute" "delegate" "alias_attribute"))
(call !receiver method: (identifier) @_attr arguments: (argument_list . (_) [(simple_symbol) (string)] @name @define.method.attr)
  (#any-of? @_attr "def_delegators" "def_instance_delegators"))
(call receiver: (constant) @_maker method: (identifier) @_make arguments: (argument_list (simple_symbol) @name @define.method.attr)
  (#any-of? @_maker "Struct" "Data") (#any-of? @_make "new" "define"))
(call !receiver method: (identifier) @_define arguments: (argument_list . [(simple_symbol) (string)] @name)
  (#eq? @_define "define_method")) @define.method.dynamic
(call !receiver method: (identifier) @_define arguments: (argument_list . [(simple_symbol) (string)] @name)
  (#eq? @_define "define_singleton_method")) @define.singleton_method.dynamic
(call !receiver method: (identifier) @_define arguments: (argument_list . [(simple_symbol) (string)] @name . [(simple_symbol) (string)] @path)
  (#eq? @_define "alias_method")) @define.method.alias
(alias name: (_) @name alias: (_) @path) @define.method.alias

; --- relations
(superclass [(constant) (scope_resolution)] @type @name @relate.extends)
(superclass (call receiver: [(constant) (scope_resolution)] @type @name @relate.extends))
(call !receiver method: (identifier) @_mix arguments: (argument_list [(constant) (scope_resolution)] @type @name @relate.extends)
  (#any-of? @_mix "include" "extend" "prepend"))
(call receiver: [(constant) (scope_resolution)] @owner method: (identifier) @_mix
  arguments: (argument_list [(constant) (scope_resolution)] @type @name @relate.extends)
  (#any-of? @_mix "include" "extend" "prepend"))
(singleton_method name: (identifier) @_hook body: (body_statement (call receiver: (identifier) method: (identifier) @_mix
  arguments: (argument_list [(constant) (scope_resolution)] @type @name @relate.extends)))
  (#any-of? @_hook "included" "extended" "prepended") (#any-of? @_mix "include" "extend" "prepend" "send"))
(method name: (identifier) @_hook body: (body_statement (call receiver: (identifier) method: (identifier) @_mix
  arguments: (argument_list [(constant) (scope_resolution)] @type @name @relate.extends)))
  (#any-of? @_hook "included" "extended" "prepended") (#any-of? @_mix "include" "extend" "prepend" "send"))
(assignment left: (constant)
  right: (call receiver: (constant) @_maker method: (identifier) @_make arguments: (argument_list . [(constant) (scope_resolution)] @type @name @relate.extends))
  (#eq? @_maker "Class") (#eq? @_make "new"))

; --- what changes the methods of a module: `module_function`, `extend self`
((identifier) @name @mark.module_function (#eq? @name "module_function"))
(call !receiver method: (identifier) @_word arguments: (argument_list (simple_symbol) @name @mark.module_function) (#eq? @_word "module_function"))
(call !receiver method: (identifier) @_word arguments: (argument_list (self) @name) (#eq? @_word "extend")) @mark.extend_self

; --- imports
(call !receiver method: (identifier) @_word arguments: (argument_list . (string . (string_content) @path .)) (#any-of? @_word "require" "load")) @import.require
(call !receiver method: (identifier) @_word arguments: (argument_list . (string . (string_content) @path .)) (#eq? @_word "require_relative")) @import.require.relative
(call method: (identifier) @_word arguments: (argument_list . (simple_symbol) @name . (string . (string_content) @path .)) (#eq? @_word "autoload")) @import.require.autoload

; --- calls
(call !receiver method: (identifier) @name arguments: (_)? @args
  (#not-any-of? @name "require" "require_relative" "load" "autoload" "include" "extend" "prepend" "attr_reader" "attr_writer" "attr_accessor" "attr"
    "private" "public" "protected" "module_function" "private_constant" "private_class_method" "alias_method" "define_method"
    "define_singleton_method" "raise")) @call
(call !receiver method: (constant) @name arguments: (_) @args) @call
(call receiver: (_) @receiver method: [(identifier) (constant)] @name arguments: (_)? @args) @call
(super) @name @call

; --- identifiers alone: calls unless a local has that name, which the fix-up sees
(body_statement (identifier) @name @call)
(block_body (identifier) @name @call)
(then (identifier) @name @call)
(else (identifier) @name @call)
(argument_list (identifier) @name @call)
(call receiver: (identifier) @name @call)
(assignment right: (identifier) @name @call)
(operator_assignment right: (identifier) @name @call)
(method body: (identifier) @name @call)
(pair value: (identifier) @name @call)
(binary left: (identifier) @name @call)
(binary right: (identifier) @name @call)
(interpolation (identifier) @name @call)
(ensure (identifier) @name @call)
(begin (identifier) @name @call)
(program (identifier) @name @call)
(parenthesized_statements (identifier) @name @call)
(array (identifier) @name @call)
(element_reference object: (identifier) @name @call)
(unary operand: (identifier) @name @call)
(splat_argument (identifier) @name @call)
(conditional (identifier) @name @call)
(case value: (identifier) @name @call)
(while condition: (identifier) @name @call)
(if condition: (identifier) @name @call)
(unless condition: (identifier) @name @call)
(if_modifier (identifier) @name @call)
(unless_modifier (identifier) @name @call)

; --- constants: types, and values when written in capitals, which the fix-up sees
(scope_resolution scope: (_) @receiver name: (constant) @name) @ref.type
((constant) @name @ref.type)
(call !receiver method: (identifier) @_word arguments: (argument_list . (simple_symbol) @name) (#any-of? @_word "method" "send" "public_send" "instance_method" "respond_to?")) @mark.symbol
(call receiver: (_) @receiver method: (identifier) @_word arguments: (argument_list . (simple_symbol) @name)
  (#any-of? @_word "method" "send" "__send__" "public_send" "instance_method")) @mark.symbol

; --- bindings. The more telling pattern of one name wins in the fix-up.
(method_parameters (identifier) @name @bind.param)
(block_parameters (identifier) @name @bind.param)
(block_parameters locals: (identifier) @name @bind.param)
(lambda_parameters (identifier) @name @bind.param)
(destructured_parameter (identifier) @name @bind.param)
(optional_parameter name: (identifier) @name value: (_) @value) @bind.param
(keyword_parameter name: (identifier) @name value: (_)? @value) @bind.param
(splat_parameter name: (identifier) @name) @bind.param
(hash_splat_parameter name: (identifier) @name) @bind.param
(block_parameter name: (identifier) @name) @bind.param
(call receiver: (_) @value method: (identifier) @_each block: (block parameters: (block_parameters . (identifier) @name))
  (#any-of? @_each "each" "map" "select" "reject" "each_with_index" "each_with_object" "flat_map" "collect" "filter" "find" "detect" "any?" "all?" "none?"
    "sort_by" "group_by" "min_by" "max_by" "partition" "filter_map" "find_each" "reverse_each" "sum" "count" "to_h" "find_all" "each_entry")) @bind.for
(call receiver: (_) @value method: (identifier) @_each block: (do_block parameters: (block_parameters . (identifier) @name))
  (#any-of? @_each "each" "map" "select" "reject" "each_with_index" "each_with_object" "flat_map" "collect" "filter" "find" "detect" "any?" "all?" "none?"
    "sort_by" "group_by" "min_by" "max_by" "partition" "filter_map" "find_each" "reverse_each" "sum" "count" "to_h" "find_all" "each_entry")) @bind.for
(for pattern: (identifier) @name value: (in (_) @value)) @bind.for
(for pattern: (left_assignment_list (identifier) @name @bind.for))
(assignment left: (identifier) @name right: (_) @value) @bind
(assignment left: (identifier) @name
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new) @value (#eq? @_new "new")) @bind
(operator_assignment left: (identifier) @name right: (_) @value) @bind
(operator_assignment left: (identifier) @name
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new) @value (#eq? @_new "new")) @bind
(left_assignment_list (identifier) @name @bind)
(destructured_left_assignment (identifier) @name @bind)
(rest_assignment (identifier) @name @bind)
(assignment left: [(instance_variable) (class_variable)] @name right: (_) @value) @bind.field
(assignment left: [(instance_variable) (class_variable)] @name
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new) @value (#eq? @_new "new")) @bind.field
(operator_assignment left: [(instance_variable) (class_variable)] @name right: (_) @value) @bind.field
(operator_assignment left: [(instance_variable) (class_variable)] @name
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new) @value (#eq? @_new "new")) @bind.field
(left_assignment_list [(instance_variable) (class_variable)] @name @bind.field)
(exception_variable (identifier) @name @bind)
(rescue exceptions: (exceptions . [(constant) (scope_resolution)] @type .) variable: (exception_variable (identifier) @name)) @bind
(keyword_pattern key: (hash_key_symbol) @name !value) @bind
(as_pattern name: (identifier) @name) @bind
(as_pattern value: [(constant) (scope_resolution)] @type name: (identifier) @name) @bind
(array_pattern (identifier) @name @bind)
(in_clause pattern: (identifier) @name @bind)

; --- strings and environment
(string) @text @string
(heredoc_content) @text @string
(element_reference object: (constant) @_env . (string) @path (#eq? @_env "ENV")) @env
(call receiver: (constant) @_env method: (identifier) @_word arguments: (argument_list . (string) @path)
  (#eq? @_env "ENV") (#any-of? @_word "fetch" "key?" "has_key?" "include?" "delete" "store")) @env
