"""Which languages may refer to each other. A name in one family says nothing about the same name in another."""

from __future__ import annotations

# Language -> family, where that is not the language itself. The tables of the languages say the same; asking them would import them.
_FAMILIES = {"javascript": "typescript", "tsx": "typescript", "java": "jvm", "kotlin": "jvm"}


def family_of(lang: str) -> str:
    """The family of a language."""
    return _FAMILIES.get(lang, lang)


def family_members(lang: str) -> list[str]:
    """The languages of a language's family, itself among them."""
    family = family_of(lang)
    return sorted({lang, family, *(member for member, its in _FAMILIES.items() if its == family)})
