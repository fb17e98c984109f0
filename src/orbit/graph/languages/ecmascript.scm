; What TypeScript, TSX and JavaScript have in common. Definitions and bindings that may carry types are in the file of each. Roles and heads: language.py.

; --- imports and re-exports; the fix-up gives each name the path of its statement (a pattern that waits for it would be slow in long lists)
(import_clause (identifier) @alias @import.default)
(import_specifier name: _ @name alias: (_)? @alias) @import
(namespace_import (identifier) @alias @import)
(import_statement source: (string) @path) @mark.source
(import_statement . "import" . source: (string) @path) @import.side
(export_specifier name: _ @name alias: _? @alias) @import.export
(namespace_export (_) @alias) @import.export
(export_statement source: (string) @path) @mark.source
(export_statement (export_clause) !source) @mark.source
(export_statement "*" source: (string) @path) @import.export.star

; --- modules loaded by a call
(variable_declarator
  name: (identifier) @alias @import.require
  value: (call_expression function: (identifier) @_load arguments: (arguments . (string) @path))
  (#eq? @_load "require"))
(variable_declarator
  name: (identifier) @alias @import.require
  value: (member_expression
    object: (call_expression function: (identifier) @_load arguments: (arguments . (string) @path))
    property: (property_identifier) @name)
  (#eq? @_load "require"))
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @name @import.require)
  value: (call_expression function: (identifier) @_load arguments: (arguments . (string) @path))
  (#eq? @_load "require"))
(variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @name value: (identifier) @alias @import.require))
  value: (call_expression function: (identifier) @_load arguments: (arguments . (string) @path))
  (#eq? @_load "require"))
(variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @name value: (assignment_pattern left: (identifier) @alias @import.require)))
  value: (call_expression function: (identifier) @_load arguments: (arguments . (string) @path))
  (#eq? @_load "require"))
(call_expression
  function: (identifier) @_load arguments: (arguments . (string) @path .)
  (#eq? @_load "require")) @import.require
(variable_declarator
  name: (identifier) @alias @import.dynamic
  value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @path))))
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @name @import.dynamic)
  value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @path))))
(variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @name value: (identifier) @alias @import.dynamic))
  value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @path))))
(call_expression function: (import) arguments: (arguments . (string) @path)) @import.dynamic

; --- exports
(export_statement "default" @name value: [(identifier) (member_expression)] @value) @export
(export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name))) @export
(export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name))) @export
(export_statement declaration: [
  (function_declaration name: (_) @name)
  (generator_function_declaration name: (_) @name)
  (class_declaration name: (_) @name)]) @export
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: [
    [(identifier) (call_expression) (new_expression) (member_expression)] @value
    (assignment_expression right: [(identifier) (call_expression) (new_expression) (member_expression)] @value)]
  (#eq? @_module "module") (#eq? @_exports "exports")) @export.commonjs
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (object (shorthand_property_identifier) @name @value @export)
  (#eq? @_module "module") (#eq? @_exports "exports"))
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (object (pair key: (_) @name value: (_) @value) @export)
  (#eq? @_module "module") (#eq? @_exports "exports"))
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (object (method_definition name: (_) @name) @export)
  (#eq? @_module "module") (#eq? @_exports "exports"))
(assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
  right: (_) @value
  (#eq? @_exports "exports")) @export
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    property: (property_identifier) @name)
  right: (_) @value
  (#eq? @_module "module") (#eq? @_exports "exports")) @export
; `var app = exports = module.exports = {}`: the module is what the variable holds
(variable_declarator
  name: (identifier) @value
  value: (assignment_expression left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports))
  (#eq? @_module "module") (#eq? @_exports "exports")) @export.commonjs
(variable_declarator
  name: (identifier) @value
  value: (assignment_expression
    left: (identifier)
    right: (assignment_expression left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)))
  (#eq? @_module "module") (#eq? @_exports "exports")) @export.commonjs

; --- calls
(decorator (call_expression function: (identifier) @name arguments: (arguments) @args)) @call.decorator
(decorator (call_expression function: (member_expression object: (_) @receiver property: (_) @name) arguments: (arguments) @args)) @call.decorator
(call_expression function: (identifier) @name arguments: (arguments) @args) @call
(call_expression function: (member_expression object: (_) @receiver property: (_) @name) arguments: (arguments) @args) @call
(call_expression function: (identifier) @name arguments: (template_string)) @call
(call_expression function: (member_expression object: (_) @receiver property: (_) @name) arguments: (template_string)) @call
(call_expression function: (super) @name arguments: (arguments) @args) @call.new
(new_expression constructor: (identifier) @name arguments: (_)? @args) @call.new
(new_expression constructor: (member_expression object: (_) @receiver property: (_) @name) arguments: (_)? @args) @call.new
(decorator (identifier) @name @ref.use.decorator)
(decorator (member_expression object: (_) @receiver property: (_) @name) @ref.use.decorator)

; --- names used as values
(arguments (identifier) @name @ref.use)
(arguments (member_expression object: [(identifier) (this)] @receiver property: (property_identifier) @name) @ref.use)
(pair value: (identifier) @name @ref.use)
(shorthand_property_identifier) @name @ref.use
(array (identifier) @name @ref.use)
(assignment_expression right: (identifier) @name @ref.use)
(return_statement (identifier) @name @ref.use)

; --- locals
(shorthand_property_identifier_pattern) @name @bind
(pair_pattern value: (identifier) @name @bind)
(pair_pattern value: (assignment_pattern left: (identifier) @name @bind))
(array_pattern (identifier) @name @bind)
(array_pattern (assignment_pattern left: (identifier) @name @bind))
(object_pattern (rest_pattern (identifier) @name @bind))
(array_pattern (rest_pattern (identifier) @name @bind))
(arrow_function parameter: (identifier) @name @bind.param)
(variable_declarator name: (object_pattern) @mark.pattern value: (_) @value)
(for_in_statement left: (identifier) @name operator: "of" right: (_) @value) @bind.for
(for_in_statement left: (identifier) @name operator: "in") @bind
(assignment_expression left: (identifier) @name right: (_) @value) @bind
(assignment_expression left: (member_expression object: (this) property: (_) @name) right: (_) @value) @bind.field
; what a callback of a collection or a promise gets
(call_expression function: (member_expression object: (_) @value property: (property_identifier) @_each)
  arguments: (arguments . (arrow_function parameter: (identifier) @name @bind.for))
  (#any-of? @_each "forEach" "map" "filter" "find" "findLast" "findIndex" "some" "every" "flatMap"))
(call_expression function: (member_expression object: (_) @value property: (property_identifier) @_then)
  arguments: (arguments . (arrow_function parameter: (identifier) @name @bind))
  (#eq? @_then "then"))

; --- strings and environment
(string) @text @string
(template_string) @text @string
(member_expression
  object: (member_expression object: (identifier) @_process property: (property_identifier) @_env)
  property: (property_identifier) @path
  (#eq? @_process "process") (#eq? @_env "env")) @env
(member_expression
  object: (member_expression object: (meta_property) property: (property_identifier) @_env)
  property: (property_identifier) @path
  (#eq? @_env "env")) @env
(subscript_expression
  object: (member_expression object: (identifier) @_process property: (property_identifier) @_env)
  index: (string) @path
  (#eq? @_process "process") (#eq? @_env "env")) @env
(variable_declarator
  name: (object_pattern [(shorthand_property_identifier_pattern) @path (pair_pattern key: (_) @path)
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @path)] @env)
  value: (member_expression object: (identifier) @_process property: (property_identifier) @_env)
  (#eq? @_process "process") (#eq? @_env "env"))
