"""What a generated source file is made of, before it is written down in a language."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

FUNCTIONS = ("open_all", "load", "render", "parse", "check", "apply", "merge", "build_index")
CLASSES = ("Store", "Reader", "Engine", "Parser", "Shape", "Index")
METHODS = ("run", "close", "read", "load", "area", "merge")
FIELDS = ("engine", "store", "inner")
FOLDERS = ("core", "tools", "core/deep")
STEMS = ("alpha", "beta", "gamma", "delta", "store")
# Forms of a statement in a body: what is called, and through what.
FORMS = ("call", "made", "local", "result", "module", "own", "above", "typed", "held", "text")


@dataclass
class Statement:
    form: str
    name: str  # function or class
    member: str = ""  # method or function of a module


@dataclass
class Function:
    name: str
    returns: str = ""
    takes: str = ""
    body: list[Statement] = field(default_factory=list)


@dataclass
class Class:
    name: str
    above: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list)
    methods: list[Function] = field(default_factory=list)


@dataclass
class Import:
    folder: str
    stem: str
    name: str = ""  # empty: the module itself
    alias: str = ""
    star: bool = False
    passes_on: bool = False
    style: int = 0  # which of several spellings


@dataclass
class Source:
    language: str
    folder: str
    stem: str
    imports: list[Import] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    remark: str = ""


class Maker:
    """Makes random parts; everything follows from the seed."""

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose

    def statement(self) -> Statement:
        pick = self.choose.choice
        form = pick(FORMS)
        name = pick(CLASSES) if form in ("made", "local", "typed") else pick(STEMS) if form == "module" else pick(FUNCTIONS)
        member = pick(FUNCTIONS) if form == "module" else pick(FIELDS) if form == "held" else pick(METHODS)
        return Statement(form, name, member)

    def function(self, names: tuple[str, ...] = FUNCTIONS) -> Function:
        pick = self.choose.choice
        some = [self.statement() for _ in range(self.choose.randint(1, 3))]
        return Function(pick(names), pick(("", "", *CLASSES[:4])), pick(("", *CLASSES[:4])), some)

    def type(self) -> Class:
        pick = self.choose.choice
        made = Class(pick(CLASSES), pick(("", *CLASSES)))
        if made.above == made.name:
            made.above = ""
        made.fields = [(pick(FIELDS), pick(CLASSES)) for _ in range(self.choose.randint(0, 2))]
        made.methods = [self.function(METHODS) for _ in range(self.choose.randint(1, 3))]
        return made

    def an_import(self, others: list[tuple[str, str]]) -> Import:
        folder, stem = self.choose.choice(others)
        form = self.choose.random()
        style = self.choose.randint(0, 3)
        if form < 0.2:
            return Import(folder, stem, star=True, passes_on=self.choose.random() < 0.5, style=style)
        if form < 0.4:
            return Import(folder, stem, alias=self.choose.choice(("", "", "beta", "tool")), style=style)
        name = self.choose.choice(CLASSES + FUNCTIONS)
        alias = self.choose.choice(("", "", *CLASSES[:2], *FUNCTIONS[:2]))
        return Import(folder, stem, name, alias, passes_on=self.choose.random() < 0.4, style=style)

    def source(self, language: str, folder: str, stem: str, others: list[tuple[str, str]]) -> Source:
        made = Source(language, folder, stem)
        made.imports = [self.an_import(others) for _ in range(self.choose.randint(0, 3))]
        made.functions = [self.function() for _ in range(self.choose.randint(1, 3))]
        made.classes = [self.type() for _ in range(self.choose.randint(0, 2))]
        return made
