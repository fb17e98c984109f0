"""Real source trees to measure on: pinned registry packages by name, fetched by the registries' own clients, kept outside the tree.

    python bench/corpus.py [mixed django ...]      fetch, and print what is there
    python bench/corpus.py --record [...]          write the hashes of what was fetched to corpora.json

A tree whose hash differs from the recorded one is refused: numbers of different trees do not compare.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from orbit.graph.languages import find

LIST = Path(__file__).with_name("corpora.json")


def cache() -> Path:
    """Where corpora stay: ORBIT_BENCH_CACHE, or the user's cache folder."""
    named = os.environ.get("ORBIT_BENCH_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "orbit-bench"


def entries() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(LIST.read_text(encoding="utf-8"))
    return found


def corpus(name: str, *, record: bool = False) -> Path:
    """The folder of a corpus, fetched if it is not there; one folder for each package."""
    listed = entries()
    for package in listed[name]:
        folder = cache() / name / folder_name(package)
        if not folder.is_dir():
            fetch(package, folder)
        found = tree_hash(folder)
        if record:
            package["sha256"] = found
        elif package.get("sha256") != found:
            raise SystemExit(f"{folder.name}: the tree's sha256 is {found}, corpora.json says {package.get('sha256')}; remove the folder to fetch it again")
    if record:
        _write(listed)
    return cache() / name


def folder_name(package: dict[str, Any]) -> str:
    plain = str(package["package"]).replace("/", "-").replace(":", "-").lstrip("@")
    return f"{plain}-{package['version']}"


def tree_hash(folder: Path) -> str:
    """One hash of all paths and contents."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole.update(f"{path.relative_to(folder).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def files(folder: Path) -> list[tuple[str, Path]]:
    """(language, path) of every file some language claims, in a fixed order."""
    found = [(find(path.relative_to(folder).as_posix()), path) for path in sorted(folder.rglob("*")) if path.is_file()]
    return [(language, path) for language, path in found if language is not None]


def fetch(package: dict[str, Any], folder: Path) -> None:
    """Download one package and keep the parts its entry names: regular files only."""
    print(f"fetching {package['package']} {package['version']} ({package['registry']})", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        root = CLIENTS[package["registry"]](package["package"], package["version"], Path(scratch))
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as staging:
            kept = Path(staging, "tree")
            for part in package["keep"]:
                sources = [root] if part == "." else sorted(root.glob(part))
                if not sources:
                    raise SystemExit(f"{package['package']} {package['version']} has no {part}")
                for path in (path for source in sources for path in (sorted(source.rglob("*")) if source.is_dir() else [source])):
                    inside = path.relative_to(root)
                    if path.is_file() and not path.is_symlink() and not {".git", ".pc"} & set(inside.parts):
                        (kept / inside).parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(path, kept / inside)
            kept.rename(folder)


def _pypi(name: str, version: str, scratch: Path) -> Path:
    _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(scratch), f"{name}=={version}"])
    return _untar(next(scratch.glob("*.tar.gz")))


def _npm(name: str, version: str, scratch: Path) -> Path:
    _run(["npm", "pack", "--silent", "--ignore-scripts", f"{name}@{version}"], cwd=scratch)
    return _untar(next(scratch.glob("*.tgz")))


def _crates(name: str, version: str, scratch: Path) -> Path:
    (scratch / "src").mkdir()
    (scratch / "src" / "lib.rs").touch()
    manifest = f'[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{name} = "={version}"\n'
    (scratch / "Cargo.toml").write_text(manifest, encoding="utf-8")
    _run(["cargo", "vendor", "--quiet", "vendor"], cwd=scratch)
    (scratch / "vendor" / name / ".cargo-checksum.json").unlink()
    return scratch / "vendor" / name


def _maven(name: str, version: str, scratch: Path) -> Path:
    group, artifact = name.split(":")
    fetched = ["-Dtransitive=false", f"-Dmaven.repo.local={scratch / 'm2'}"]
    _run(["mvn", "-q", "-B", "dependency:get", f"-Dartifact={name}:{version}:jar:sources", *fetched], cwd=scratch)
    root = scratch / "root"
    with zipfile.ZipFile(scratch / "m2" / Path(*group.split(".")) / artifact / version / f"{artifact}-{version}-sources.jar") as jar:
        jar.extractall(root)
    return root


def _debian(name: str, version: str, scratch: Path) -> Path:
    """The machine's own archive with sources switched on, in a state of our own: nothing of the machine's apt changes."""
    parts, state = scratch / "parts", scratch / "state"
    for made in (parts, state / "lists" / "partial", state / "cache" / "archives" / "partial", scratch / "got"):
        made.mkdir(parents=True)
    for listed in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]:
        if listed.suffix == ".sources":
            text = [("Types: deb-src" if line.startswith("Types:") else line) for line in listed.read_text(encoding="utf-8").splitlines()]
        elif listed.is_file():
            text = ["deb-src " + line.split(" ", 1)[1] for line in listed.read_text(encoding="utf-8").splitlines() if line.startswith("deb ")]
        else:
            continue
        (parts / listed.name).write_text("\n".join(text) + "\n", encoding="utf-8")
    places = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": parts, "Dir::State::Lists": state / "lists", "Dir::Cache": state / "cache"}
    options = [part for key, value in places.items() for part in ("-o", f"{key}={value}")]
    _run(["apt-get", *options, *_APT_USER, "-qq", "update"])
    _run(["apt-get", *options, *_APT_USER, "-qq", "source", "--download-only", "--tar-only", f"{name}={version}"], cwd=scratch / "got")
    return _untar(next((scratch / "got").glob("*.tar.*")))


def _deb(name: str, version: str, scratch: Path) -> Path:
    """A built package that holds a source archive, as `linux-source` does."""
    _run(["apt-get", "-qq", *_APT_USER, "download", f"{name}={version}"], cwd=scratch)
    _run(["dpkg-deb", "--extract", str(next(scratch.glob("*.deb"))), str(scratch / "deb")])
    return _untar(next((scratch / "deb" / "usr" / "src").glob("*.tar.xz")))


_APT_USER = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
CLIENTS = {"pypi": _pypi, "npm": _npm, "crates": _crates, "maven": _maven, "debian": _debian, "deb": _deb}


def _untar(archive: Path) -> Path:
    root = archive.parent / "root"
    with tarfile.open(archive) as tar:
        for member in tar:
            inside = member.name.partition("/")[2]
            content = tar.extractfile(member) if member.isfile() and inside and ".." not in inside.split("/") else None
            if content is not None:
                (root / inside).parent.mkdir(parents=True, exist_ok=True)
                (root / inside).write_bytes(content.read())
    return root


def _run(command: list[str], cwd: Path | None = None) -> None:
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def _write(listed: dict[str, list[dict[str, Any]]]) -> None:
    """One package a line: a changed pin is a changed line."""
    blocks = [f"  {json.dumps(name)}: [\n" + ",\n".join(f"    {json.dumps(package)}" for package in packages) + "\n  ]" for name, packages in listed.items()]
    LIST.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", default=["mixed"])
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    for name in given.names:
        folder = corpus(name, record=given.record)
        lines: dict[str, int] = {}
        for language, path in files(folder):
            lines[language] = lines.get(language, 0) + path.read_bytes().count(b"\n")
        print(f"{name}: {sum(lines.values())} lines in {len(lines)} languages, {len(files(folder))} files")
        for language, count in sorted(lines.items(), key=lambda item: -item[1]):
            print(f"  {language:12} {count:8}")


if __name__ == "__main__":
    main()
