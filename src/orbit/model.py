"""The vocabulary shared by all rooms: kinds of symbols, references and relations. Codes are stored, so the lists are append only."""

from __future__ import annotations

# In the `extra` of a param's Meta: the command line takes it by place, not by an option.
ARGUMENT = {"cli": {"argument": True}}

SYMBOL_KINDS = (
    "module", "package", "namespace", "class", "struct", "enum", "union", "interface", "trait", "record", "annotation", "object",
    "companion_object", "singleton_class", "impl", "function", "method", "constructor", "function_declaration", "singleton_method", "test",
    "property", "field", "const", "constant", "static", "var", "global", "enum_member", "event", "delegate", "type_alias", "typedef", "macro",
    "section", "column",
)  # fmt: skip
SYMBOL_KIND_CODES = {kind: code for code, kind in enumerate(SYMBOL_KINDS)}

# Kinds that have members: a function inside one of them is a method of it.
TYPE_KINDS = frozenset({
    "class", "struct", "enum", "union", "interface", "trait", "record", "annotation", "object", "companion_object", "singleton_class", "impl",
})  # fmt: skip

REF_KINDS = ("call", "type", "use", "trait_bound")
REF_KIND_CODES = {kind: code for code, kind in enumerate(REF_KINDS)}
RELATION_KINDS = ("extends", "implements", "impl")
RELATION_KIND_CODES = {kind: code for code, kind in enumerate(RELATION_KINDS)}

# The confidence ladder, best first.
CONFIDENCES = ("exact", "import_resolved", "same_module", "fuzzy_name")
CONFIDENCE_CODES = {name: code for code, name in enumerate(CONFIDENCES)}
