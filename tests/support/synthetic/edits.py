"""A generated repository on disk, and the edits people make to one."""

from __future__ import annotations

import copy
import os
import random
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from synthetic.manifests import MANIFESTS
from synthetic.parts import CLASSES, FOLDERS, FUNCTIONS, METHODS, STEMS, Function, Maker, Place, Reach, Source
from synthetic.spelling import WORDS, path_of, write

LANGUAGES = tuple(WORDS)


class Repository:
    """Sources of some languages below a root; `edit` changes something at random. The same seed makes the same history."""

    def __init__(self, root: Path, seed: int, languages: Iterable[str] = LANGUAGES, files_each: int = 5, *, switches: bool = True) -> None:
        self.root, self.choose = root, random.Random(seed)
        self.maker, self.languages = Maker(self.choose), tuple(languages)
        self.sources: dict[str, Source] = {}
        self.manifests = {path: wordings[0] for path, wordings in MANIFESTS.items()}
        self.branch, self.branches = "main", dict[str, tuple[dict[str, Source], dict[str, str]]]()
        self._run_git("init", "-q", "-b", "main")
        for language in self.languages:
            for _ in range(files_each):
                self._add(language)
        for path in self.manifests:
            self._put_manifest(path)
        self.edits: tuple[tuple[int, Callable[[], str]], ...] = (
            (6, self.change_body), (3, self.rename_function), (3, self.add_file), (3, self.remove_file), (2, self.rename_file), (3, self.move_class),
            (3, self.add_ambiguity), (3, self.drop_definition), (3, self.change_above), (4, self.change_import), (3, self.change_return),
            (4, self.change_manifest), (1, self.touch), (int(switches), self.switch_branch), (2, self.comment), (1, self.break_file),
        )  # fmt: skip

    def edit(self) -> str:
        """Do one of the edits; says which."""
        weights, kinds = zip(*self.edits, strict=True)
        return self.choose.choices(kinds, weights)[0]()

    def write(self, source: Source) -> None:
        """Put a changed source on disk."""
        self._put(source, "")

    # --- edits

    def change_body(self) -> str:
        function = self._function()
        if function is None:
            return self.add_file()
        source, found = function
        found.body = [self.maker.statement(Reach.of(source)) for _ in range(self.choose.randint(0, 3))]
        return self._put(source, f"changed the body of {found.name}")

    def rename_function(self) -> str:
        function = self._function()
        if function is None:
            return self.add_file()
        source, found = function
        old, found.name = found.name, self.choose.choice(FUNCTIONS + METHODS)
        return self._put(source, f"renamed {old} to {found.name}")

    def add_file(self) -> str:
        return f"added {self._add(self.choose.choice(self.languages))}"

    def remove_file(self) -> str:
        if len(self.sources) < 4:
            return self.add_file()
        path = self._path()
        del self.sources[path]
        (self.root / path).unlink()
        return f"removed {path}"

    def rename_file(self) -> str:
        path = self._path()
        source = self.sources.pop(path)
        (self.root / path).unlink()
        source.folder, source.stem = self._place(source.language)
        return f"{path} is now {self._put(source, '')}"

    def move_class(self) -> str:
        holders = [source for source in self._all() if source.classes]
        if not holders:
            return self.change_above()
        source = self.choose.choice(holders)
        target = self.choose.choice([other for other in self._all() if other.language == source.language])
        moved = source.classes.pop(self.choose.randrange(len(source.classes)))
        target.classes.append(moved)
        self._put(source, "")
        return self._put(target, f"moved {moved.name} from {self._path_of(source)}")

    def add_ambiguity(self) -> str:
        source = self._source()
        if self.choose.random() < 0.5 and source.functions:
            source.functions.append(copy.deepcopy(self.choose.choice(source.functions)))
        elif self.choose.random() < 0.5:
            source.functions.append(self.maker.function(Reach.of(source)))
        else:
            source.classes.append(self.maker.type(Reach.of(source)))
        return self._put(source, "added a definition")

    def drop_definition(self) -> str:
        source = self._source()
        held: list[object] = self.choose.choice([source.functions, source.classes])  # type: ignore[list-item]
        if held:
            held.pop(self.choose.randrange(len(held)))
        return self._put(source, "dropped a definition")

    def change_above(self) -> str:
        classes = [(source, found) for source in self._all() for found in source.classes]
        if not classes:
            return self.add_ambiguity()
        source, found = self.choose.choice(classes)
        found.above = self.choose.choice(["", *(name for name in CLASSES if name != found.name)])
        return self._put(source, f"{found.name} extends {found.above or 'nothing'}")

    def change_import(self) -> str:
        source = self._source()
        if source.imports and self.choose.random() < 0.5:
            source.imports.pop(self.choose.randrange(len(source.imports)))
        if self.choose.random() < 0.7:
            source.imports.append(self.maker.an_import(self._places(source.language)))
        return self._put(source, "changed an import")

    def change_return(self) -> str:
        function = self._function()
        if function is None:
            return self.add_file()
        source, found = function
        found.returns = self.choose.choice(["", *CLASSES])
        return self._put(source, f"{found.name} returns {found.returns or 'nothing'}")

    def change_manifest(self) -> str:
        path = self.choose.choice(sorted(self.manifests))
        self.manifests[path] = self.choose.choice(MANIFESTS[path])
        self._put_manifest(path)
        return f"wrote {path}: {self.manifests[path]!r}"

    def touch(self) -> str:
        path = self._path()
        os.utime(self.root / path)
        return f"touched {path}"

    def comment(self) -> str:
        source = self._source()
        source.remark = f"remark {self.choose.randint(0, 99)}"
        return self._put(source, "changed a comment")

    def break_file(self) -> str:
        path = self._path()
        whole = (self.root / path).read_bytes()
        (self.root / path).write_bytes(whole[: self.choose.randint(0, len(whole))])
        return f"cut {path} short"

    def switch_branch(self) -> str:
        self._run_git("add", "-A", "-f", ".", ":!.orbit")
        self._run_git("commit", "-q", "--allow-empty", "-m", "work")
        self.branches[self.branch] = copy.deepcopy((self.sources, self.manifests))
        name = self.choose.choice([*self.branches, f"topic/{len(self.branches)}"])
        if name in self.branches:
            self._run_git("checkout", "-q", name)
            self.sources, self.manifests = copy.deepcopy(self.branches[name])
        else:
            self._run_git("checkout", "-q", "-b", name)
        self.branch = name
        return f"switched to {name}"

    # --- parts

    def _all(self) -> list[Source]:
        return [self.sources[path] for path in sorted(self.sources)]

    def _source(self) -> Source:
        return self.choose.choice(self._all())

    def _path(self) -> str:
        return self.choose.choice(sorted(self.sources))

    def _path_of(self, source: Source) -> str:
        return path_of(source.language, source.folder, source.stem)

    def _function(self) -> tuple[Source, Function] | None:
        found = [(source, function) for source in self._all() for function in [*source.functions, *(m for c in source.classes for m in c.methods)]]
        return self.choose.choice(found) if found else None

    def _places(self, language: str) -> list[Place]:
        """Where imports may lead: files that are there, mostly, and one that may not be."""
        found = [(source.folder, source.stem, self._names(source)) for source in self._all() if source.language == language]
        return [*found, (self.choose.choice(FOLDERS), self.choose.choice(STEMS), [])]

    def _names(self, source: Source) -> list[str]:
        passed = [found.alias or found.name for found in source.imports if found.name and found.passes_on]
        return [*(found.name for found in source.classes), *(function.name for function in source.functions), *passed]

    def _place(self, language: str) -> tuple[str, str]:
        stems = [*STEMS, "__init__", "__init__"] if language in ("python", "typescript", "rust", "javascript") else STEMS
        return self.choose.choice(("", *FOLDERS)), self.choose.choice(stems)

    def _add(self, language: str) -> str:
        folder, stem = self._place(language)
        return self._put(self.maker.source(language, folder, stem, self._places(language)), "")

    def _put(self, source: Source, what: str) -> str:
        path = self._path_of(source)
        self.sources[path] = source
        self._write(path, write(source))
        return f"{path}: {what}" if what else path

    def _put_manifest(self, path: str) -> None:
        if self.manifests[path]:
            self._write(path, self.manifests[path])
        else:
            (self.root / path).unlink(missing_ok=True)

    def _write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def _run_git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True)
