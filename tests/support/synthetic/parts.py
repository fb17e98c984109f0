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


@dataclass
class Reach:
    """Names a source file can see: its own and what it imports. Statements mostly use these, so that most edges lead somewhere."""

    functions: list[str]
    classes: list[str]
    modules: list[str]

    @classmethod
    def of(cls, source: Source) -> Reach:
        functions, classes = [function.name for function in source.functions], [found.name for found in source.classes]
        modules = []
        for found in source.imports:
            seen = found.alias or found.name
            if found.name:
                (classes if seen[0].isupper() else functions).append(seen)
            else:
                modules.append(found.alias or (found.folder.rpartition("/")[2] if source.language == "go" else found.stem))
        return cls(functions, classes, modules)


Place = tuple[str, str, list[str]]  # folder, stem, names defined there


class Maker:
    """Makes random parts; everything follows from the seed."""

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose

    def _mostly(self, near: list[str], far: tuple[str, ...]) -> str:
        return self.choose.choice(near) if near and self.choose.random() < 0.75 else self.choose.choice(far)

    def statement(self, reach: Reach) -> Statement:
        pick = self.choose.choice
        form = pick(FORMS)
        if form in ("made", "local", "typed"):
            name = self._mostly(reach.classes, CLASSES)
        else:
            name = self._mostly(reach.modules, STEMS) if form == "module" else self._mostly(reach.functions, FUNCTIONS)
        member = pick(FUNCTIONS) if form == "module" else pick(FIELDS) if form == "held" else pick(METHODS)
        return Statement(form, name, member)

    def function(self, reach: Reach, names: tuple[str, ...] = FUNCTIONS) -> Function:
        some = [self.statement(reach) for _ in range(self.choose.randint(1, 4))]
        returns, takes = (self._mostly(reach.classes, CLASSES) if self.choose.random() < 0.5 else "" for _ in range(2))
        return Function(self.choose.choice(names), returns, takes, some)

    def type(self, reach: Reach) -> Class:
        made = Class(self.choose.choice(CLASSES), self._mostly(reach.classes, CLASSES) if self.choose.random() < 0.7 else "")
        if made.above == made.name:
            made.above = ""
        made.fields = [(self.choose.choice(FIELDS), self._mostly(reach.classes, CLASSES)) for _ in range(self.choose.randint(0, 2))]
        made.methods = [self.function(reach, METHODS) for _ in range(self.choose.randint(1, 3))]
        return made

    def an_import(self, others: list[Place]) -> Import:
        folder, stem, names = self.choose.choice(others)
        form = self.choose.random()
        style = self.choose.randint(0, 3)
        if form < 0.2:
            return Import(folder, stem, star=True, passes_on=self.choose.random() < 0.5, style=style)
        if form < 0.4:
            return Import(folder, stem, alias=self.choose.choice(("", "", "beta", "tool")), style=style)
        name = self._mostly(names, CLASSES + FUNCTIONS)
        alias = self.choose.choice(("", "", "", *CLASSES[:2])) if name[0].isupper() else self.choose.choice(("", "", "", *FUNCTIONS[:2]))
        return Import(folder, stem, name, alias, passes_on=self.choose.random() < 0.4, style=style)

    def source(self, language: str, folder: str, stem: str, others: list[Place]) -> Source:
        made = Source(language, folder, stem)
        made.imports = [self.an_import(others) for _ in range(self.choose.randint(0, 5))]
        made.classes = [self.type(Reach.of(made)) for _ in range(self.choose.randint(0, 2))]
        made.functions = [self.function(Reach.of(made)) for _ in range(self.choose.randint(1, 3))]
        return made
