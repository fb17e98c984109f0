"""Edits of real sources that know nothing of their languages: lines go, come, move; names change into other names."""

from __future__ import annotations

import random
import re
from pathlib import Path

_WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")


class Sheets:
    """Files below a root, edited at random. `library` gives what new files are made of: path and bytes."""

    def __init__(self, root: Path, seed: int, library: dict[str, bytes]) -> None:
        self.root, self.choose, self.library = root, random.Random(seed), library
        for path, text in library.items():
            self._write(path, text)
        words = sorted({word for text in library.values() for word in _WORD.findall(text) if len(word) > 2})
        self.words = self.choose.sample(words, min(60, len(words)))

    def edit(self) -> str:
        """Do one edit; says which."""
        kinds = (self.drop_line, self.repeat_line, self.move_line, self.rename_word, self.rename_word, self.remove, self.restore, self.move_file)
        return self.choose.choice(kinds)()

    def drop_line(self) -> str:
        path, lines = self._some()
        gone = lines.pop(self.choose.randrange(len(lines))) if lines else b""
        return self._save(path, lines, f"dropped {gone!r}")

    def repeat_line(self) -> str:
        path, lines = self._some()
        if lines:
            line = self.choose.choice(lines)
            lines.insert(self.choose.randint(0, len(lines)), line)
        return self._save(path, lines, "repeated a line")

    def move_line(self) -> str:
        """From one file of a kind to another."""
        path, lines = self._some()
        if not lines:
            return self.restore()
        start = self.choose.randrange(len(lines))
        moved = lines[start : start + self.choose.randint(1, 8)]
        del lines[start : start + len(moved)]
        self._save(path, lines, "")
        target = self.choose.choice([other for other in self._paths() if other.suffix == path.suffix])
        there = target.read_bytes().splitlines(keepends=True)
        at = self.choose.randint(0, len(there))
        return self._save(target, there[:at] + moved + there[at:], f"{len(moved)} lines came from {path.name}")

    def rename_word(self) -> str:
        path, _ = self._some()
        text = path.read_bytes()
        found = _WORD.findall(text)
        if not found:
            return self.restore()
        old, new = self.choose.choice(found), self.choose.choice([*self.words, self.choose.choice(found)])
        count = self.choose.choice((0, 1))  # all of them, or the first
        path.write_bytes(re.sub(rb"\b" + old + rb"\b", new, text, count=count))
        return f"{path.relative_to(self.root)}: {old!r} is now {new!r}"

    def remove(self) -> str:
        paths = self._paths()
        if len(paths) < 5:
            return self.restore()
        path = self.choose.choice(paths)
        path.unlink()
        return f"removed {path.relative_to(self.root)}"

    def restore(self) -> str:
        path = self.choose.choice(sorted(self.library))
        self._write(path, self.library[path])
        return f"restored {path}"

    def move_file(self) -> str:
        path = self.choose.choice(self._paths())
        folder = self.choose.choice(sorted({other.parent for other in self._paths()}))
        stem = self.choose.choice([path.stem, self.choose.choice(self._paths()).stem])
        target = folder / f"{stem}{path.suffix}"
        if target.exists():
            return self.restore()
        path.rename(target)
        return f"{path.relative_to(self.root)} is now {target.relative_to(self.root)}"

    def _paths(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if path.is_file() and ".orbit" not in path.parts and ".git" not in path.parts)

    def _some(self) -> tuple[Path, list[bytes]]:
        path = self.choose.choice(self._paths())
        return path, path.read_bytes().splitlines(keepends=True)

    def _save(self, path: Path, lines: list[bytes], what: str) -> str:
        path.write_bytes(b"".join(lines))
        return f"{path.relative_to(self.root)}: {what}"

    def _write(self, path: str, text: bytes) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text)
