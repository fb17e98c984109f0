; Rust. Roles and heads: language.py. What `use` trees, attributes, impl blocks and token trees mean is worked out in rust.py.

; --- definitions
(function_item name: (identifier) @name parameters: (_) @args return_type: (_)? @type body: (_) @body) @define.function
(function_signature_item name: (identifier) @name parameters: (_) @args return_type: (_)? @type) @define.function.signature
(struct_item name: (type_identifier) @name body: (_)? @body) @define.struct
(enum_item name: (type_identifier) @name body: (_) @body) @define.enum
(union_item name: (type_identifier) @name body: (_) @body) @define.union
(trait_item name: (type_identifier) @name body: (_) @body) @define.trait
(impl_item !trait type: (_) @owner body: (_) @body) @define.impl
(impl_item trait: (_) @type type: (_) @owner body: (_) @body) @define.impl
(mod_item name: (identifier) @name body: (_) @body) @define.module
((const_item name: (identifier) @name type: (_) @type value: (_)? @value) @define.const (#not-eq? @name "_"))
(static_item name: (identifier) @name type: (_) @type value: (_)? @value) @define.static
(type_item name: (type_identifier) @name type: (_) @type) @define.type_alias
(associated_type name: (type_identifier) @name) @define.type_alias
(macro_definition name: (identifier) @name) @define.macro
(enum_variant name: (identifier) @name) @define.enum_member
(field_declaration name: (field_identifier) @name type: (_) @type) @define.field
(ordered_field_declaration_list type: (_) @type @mark.slot)

; --- relations
(impl_item trait: (_) @type @name type: (_) @owner) @relate.impl
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @type @name @relate.extends))

; --- imports
(use_declaration argument: (_) @path) @import
(extern_crate_declaration name: (identifier) @path alias: (identifier)? @alias) @import.crate
(mod_item name: (identifier) @path !body) @import.mod

; --- attributes
((attribute_item (attribute . (_) @name)) @mark.attribute
  (#not-any-of? @name "inline" "must_use" "allow" "warn" "deny" "expect" "doc" "cold" "stable" "unstable" "repr" "non_exhaustive" "default"
    "track_caller" "rustc_const_stable" "rustc_const_unstable" "deprecated" "ignore" "should_panic" "no_mangle" "error" "source" "from"))
((attribute . (identifier) @name @ref.use.decorator)
  (#not-any-of? @name "inline" "must_use" "allow" "warn" "deny" "expect" "cfg" "cfg_attr" "doc" "cold" "stable" "unstable" "repr" "non_exhaustive"
    "default" "track_caller" "rustc_const_stable" "rustc_const_unstable" "serde" "deprecated" "ignore" "should_panic" "no_mangle" "derive" "arg"
    "command" "clap" "error" "source" "from" "path" "macro_use" "macro_export" "global_allocator" "proc_macro" "proc_macro_derive"
    "proc_macro_attribute" "feature" "link" "export_name" "target_feature" "automatically_derived" "value"))
(attribute . (scoped_identifier path: (_) @receiver name: (identifier) @name) @ref.use.decorator)

; --- calls
((call_expression function: (identifier) @name arguments: (_) @args) @call (#not-any-of? @name "Some" "Ok" "Err"))
(call_expression function: (field_expression value: (_) @receiver field: (field_identifier) @name) arguments: (_) @args) @call
(call_expression function: (scoped_identifier path: (_) @receiver name: (identifier) @name) arguments: (_) @args) @call
(call_expression function: (parenthesized_expression (field_expression value: (_) @receiver field: (field_identifier) @name)) arguments: (_) @args) @call
(call_expression function: (generic_function function: (identifier) @name) arguments: (_) @args) @call
(call_expression function: (generic_function function: (field_expression value: (_) @receiver field: (field_identifier) @name)) arguments: (_) @args) @call
(call_expression function: (generic_function function: (scoped_identifier path: (_) @receiver name: (identifier) @name)) arguments: (_) @args) @call
(macro_invocation macro: (identifier) @name) @call.macro
(macro_invocation macro: (scoped_identifier path: (_) @receiver name: (identifier) @name)) @call.macro
((token_tree (identifier) @name @call . (token_tree)) (#not-any-of? @name "Some" "Ok" "Err"))

; --- trait bounds
(trait_bounds (type_identifier) @name @ref.bound)
(trait_bounds (scoped_type_identifier path: (_) @receiver name: (type_identifier) @name) @ref.bound)
(trait_bounds (generic_type type: (type_identifier) @name @ref.bound))
(trait_bounds (generic_type type: (scoped_type_identifier path: (_) @receiver name: (type_identifier) @name) @ref.bound))
(trait_bounds (higher_ranked_trait_bound type: (function_type trait: (type_identifier) @name @ref.bound)))
(trait_bounds (function_type trait: (type_identifier) @name @ref.bound))
(dynamic_type trait: (type_identifier) @name @ref.bound)
(dynamic_type trait: (scoped_type_identifier path: (_) @receiver name: (type_identifier) @name) @ref.bound)
(dynamic_type trait: (generic_type type: (type_identifier) @name @ref.bound))
(abstract_type trait: (type_identifier) @name @ref.bound)
(abstract_type trait: (scoped_type_identifier path: (_) @receiver name: (type_identifier) @name) @ref.bound)
(abstract_type trait: (generic_type type: (type_identifier) @name @ref.bound))
(bounded_type (type_identifier) @name @ref.bound)

; --- types, and the types and values that paths lead through (@ref.type.new: kept by rust.py when it is written like a type)
(scoped_type_identifier path: (_) @receiver name: (type_identifier) @name) @ref.type
(generic_type type: (scoped_identifier path: (_) @receiver name: (identifier) @name) @ref.type)
((type_identifier) @name @ref.type (#not-any-of? @name "Self" "_" "Vec" "String" "Option" "Box"))
((scoped_identifier path: (identifier) @name @ref.type.new) (#not-any-of? @name "Self" "self" "std" "core"))
(scoped_identifier path: (scoped_identifier path: (_) @receiver name: (identifier) @name) @ref.type.new)
((scoped_type_identifier path: (identifier) @name @ref.type.new) (#not-any-of? @name "Self" "self" "std" "core"))
(scoped_type_identifier path: (scoped_identifier path: (_) @receiver name: (identifier) @name) @ref.type.new)
(scoped_identifier path: (_) @receiver name: (identifier) @name) @ref.use
((arguments (identifier) @name @ref.use) (#not-eq? @name "None"))
((field_initializer value: (identifier) @name @ref.use) (#not-eq? @name "None"))

; --- locals
(type_parameter name: (type_identifier) @name bounds: (trait_bounds . (_) @type)?) @mark.generic
(const_parameter name: (identifier) @name type: (_) @type) @bind.param
(parameter pattern: (identifier) @name type: (_) @type) @bind.param
(parameter pattern: (reference_pattern (identifier) @name) type: (_) @type) @bind.param
(closure_parameters (identifier) @name @bind.param)
(closure_parameters (reference_pattern (identifier) @name @bind.param))
(let_declaration pattern: (identifier) @name type: (_)? @type value: (_)? @value) @bind
(let_declaration pattern: (tuple_struct_pattern type: (identifier) @_some . [(identifier) @name (ref_pattern (identifier) @name) (mut_pattern (identifier) @name)] .) value: (_) @value (#any-of? @_some "Some" "Ok")) @bind
(let_condition pattern: (tuple_struct_pattern type: (identifier) @_some . [(identifier) @name (ref_pattern (identifier) @name) (mut_pattern (identifier) @name)] .) value: (_) @value (#any-of? @_some "Some" "Ok")) @bind
(match_expression value: (_) @value body: (match_block (match_arm pattern:
  (match_pattern (tuple_struct_pattern type: (identifier) @_some . [(identifier) @name (ref_pattern (identifier) @name) (mut_pattern (identifier) @name)] .)))) (#any-of? @_some "Some" "Ok")) @bind
(tuple_pattern (identifier) @name @bind)
(tuple_struct_pattern type: (_) (identifier) @name @bind)
(slice_pattern (identifier) @name @bind)
(captured_pattern . (identifier) @name) @bind
(struct_pattern type: (_) @type (field_pattern name: (shorthand_field_identifier) @name)) @mark.pattern
(struct_pattern type: (_) @type (field_pattern name: (field_identifier) @path pattern: (identifier) @name)) @mark.pattern
(tuple_struct_pattern type: [(identifier) (scoped_identifier)] @type . [(identifier) @name (ref_pattern (identifier) @name) (mut_pattern (identifier) @name)] .) @mark.pattern
(for_expression pattern: (identifier) @name value: (_) @value) @bind.for
(for_expression pattern: (reference_pattern (identifier) @name) value: (_) @value) @bind.for
(for_expression pattern: (tuple_pattern (_) . (identifier) @name .) value: (_) @value) @bind.for
(for_expression pattern: (tuple_pattern "_" . (identifier) @name .) value: (_) @value) @bind.for

; --- command dispatch
(match_arm pattern: (match_pattern (tuple_struct_pattern type: (scoped_identifier) @path))) @mark.arm
(match_arm pattern: (match_pattern (struct_pattern type: (scoped_type_identifier) @path))) @mark.arm
(match_arm pattern: (match_pattern (scoped_identifier) @path)) @mark.arm
(match_arm pattern: (match_pattern (or_pattern) @path)) @mark.arm

; --- strings and environment
(string_literal) @text @string
(raw_string_literal) @text @string
(call_expression
  function: (scoped_identifier path: (_) @_module name: (identifier) @_function) arguments: (arguments . (string_literal) @path)
  (#any-of? @_function "var" "var_os" "set_var" "remove_var") (#any-of? @_module "env" "std::env" "::std::env")) @env
(call_expression function: (identifier) @_function arguments: (arguments . (string_literal) @path) (#any-of? @_function "var" "var_os")) @env
(macro_invocation macro: (identifier) @_macro (token_tree . (string_literal) @path) (#any-of? @_macro "env" "option_env")) @env
((attribute (identifier) @_attribute arguments: (token_tree (identifier) @_key . (string_literal) @path)) @env
  (#any-of? @_attribute "arg" "clap") (#eq? @_key "env"))
