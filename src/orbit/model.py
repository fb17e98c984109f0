"""The vocabulary shared by all rooms: kinds of symbols, references and relations, families of languages. Codes are stored, so the lists are append only."""

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

# Languages that may refer to each other: language -> family, where that is not the language itself. The tables of the languages say the same; asking
# them would import them.
_FAMILIES = {"javascript": "typescript", "tsx": "typescript", "java": "jvm", "kotlin": "jvm"}


def family_of(lang: str) -> str:
    """The family of a language."""
    return _FAMILIES.get(lang, lang)


def family_members(lang: str) -> list[str]:
    """The languages of a language's family, itself among them."""
    family = family_of(lang)
    return sorted({lang, family, *(member for member, its in _FAMILIES.items() if its == family)})
