"""Builds the native core: finds the tree-sitter C runtime, holds compiler flags and directives. All metadata is in pyproject.toml.

Environment:
    ORBIT_BUILD             release (default), debug (-O0, bounds checks) or sanitize (AddressSanitizer and UBSan)
    ORBIT_TREE_SITTER_SRC   a folder with `src/lib.c` and `include/tree_sitter/api.h` to use in place of the pinned runtime
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
RUNTIME = "tree-sitter==0.26.0"
RUNTIME_SHA256 = "b40c219edccc4564530c96f8f1556f6202b37cda964d1cbd7bd2b7e68b40a245"
BUNDLED = HERE / "third_party" / "tree_sitter"  # carried by our sdist, never committed
ORIGIN = f"{RUNTIME} sha256:{RUNTIME_SHA256}\n"  # kept beside the copy, so that a new pin replaces an old copy
LINKS_RUNTIME = {"capture"}

MODES = ("release", "debug", "sanitize")
MODE = os.environ.get("ORBIT_BUILD", "release")
if MODE not in MODES:
    raise SystemExit(f"ORBIT_BUILD is {MODE!r}, expected one of {', '.join(MODES)}")

BUILD_BASE = f"build/{MODE}"  # what one mode compiled is no use to another

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": MODE == "debug",
    "initializedcheck": MODE == "debug",
    "wraparound": False,
    "cdivision": True,
    "embedsignature": True,
}


def runtime() -> Path:
    """The folder with `include/` and `src/` of the tree-sitter C runtime."""
    named = os.environ.get("ORBIT_TREE_SITTER_SRC")
    if named:
        return _checked(Path(named))
    return bundled()


def bundled() -> Path:
    """The pinned runtime: the copy inside our sdist, or a fresh one from the package index."""
    origin = BUNDLED / "ORIGIN"
    if not origin.is_file() or origin.read_text(encoding="utf-8") != ORIGIN:
        _download()
    return _checked(BUNDLED)


def _checked(folder: Path) -> Path:
    if not (folder / "src" / "lib.c").is_file() or not (folder / "include" / "tree_sitter" / "api.h").is_file():
        raise SystemExit(f"no tree-sitter C runtime in {folder}: expected src/lib.c and include/tree_sitter/api.h")
    return folder


def _download() -> None:
    """Fetch the pinned source archive with pip and unpack the C runtime from it.

    pip compares the hash before it runs anything of the archive (it asks the archive for metadata); the second check here is ours.
    """
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch, "runtime.txt")
        wanted.write_text(f"{RUNTIME} --hash=sha256:{RUNTIME_SHA256}\n", encoding="utf-8")
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "tree-sitter", "--no-build-isolation"]
        done = subprocess.run([*fetch, "--require-hashes", "--requirement", str(wanted), "--dest", scratch], check=False)
        archives = list(Path(scratch).glob("tree*sitter-*.tar.gz"))
        if done.returncode or len(archives) != 1:
            raise SystemExit(f"pip could not fetch the source archive of {RUNTIME}: name a copy of its folder tree_sitter/core/lib in ORBIT_TREE_SITTER_SRC")
        found = hashlib.sha256(archives[0].read_bytes()).hexdigest()
        if found != RUNTIME_SHA256:
            raise SystemExit(f"{RUNTIME}: sha256 is {found}, expected {RUNTIME_SHA256}")
        _unpack(archives[0])


def _unpack(archive: Path) -> None:
    """Write `tree_sitter/core/lib` and the licence to BUNDLED: regular files only, so no extraction filter is needed."""
    BUNDLED.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUNDLED.parent) as scratch, tarfile.open(archive) as tar:
        copy = Path(scratch, "copy")
        for member in tar:
            inside = member.name.partition("/")[2]
            target = inside[len("tree_sitter/core/lib/") :] if inside.startswith("tree_sitter/core/lib/") else inside if inside == "LICENSE" else ""
            content = tar.extractfile(member) if member.isfile() and target and ".." not in target.split("/") else None
            if content is not None:
                (copy / target).parent.mkdir(parents=True, exist_ok=True)
                (copy / target).write_bytes(content.read())
        (copy / "ORIGIN").write_text(ORIGIN, encoding="utf-8")
        shutil.rmtree(BUNDLED, ignore_errors=True)
        copy.rename(BUNDLED)


def compile_flags(stem: str) -> tuple[list[str], list[str]]:
    """What the C compiler and the linker are told for extension `stem`."""
    if sys.platform == "win32":
        return (["/Od", "/Zi"] if MODE == "debug" else ["/O2"]) + ["/std:c11", "/wd4244", "/wd4267"], []
    compile_args = ["-std=c11", "-fvisibility=hidden", "-Wno-unused-function"]
    link_args: list[str] = []
    if MODE == "release":
        compile_args += ["-O2", "-g0"]
    elif MODE == "debug":
        compile_args += ["-O0", "-g", "-UNDEBUG"]
    else:
        checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]
        compile_args += ["-O1", "-g", "-UNDEBUG", *checks]
        link_args += checks
    if stem in LINKS_RUNTIME and platform.machine() == "aarch64" and sys.platform == "linux":
        compile_args.append("--param=early-inlining-insns=9")  # gcc miscompiles the runtime otherwise, as its own build notes
    return compile_args, link_args


def extensions() -> list[Extension]:
    """One extension for each .pyx."""
    found = []
    for source in sorted((HERE / "orbit_native").glob("*.pyx")):
        compile_args, link_args = compile_flags(source.stem)
        found.append(
            Extension(
                f"orbit_native.{source.stem}",
                [source.relative_to(HERE).as_posix()],
                include_dirs=[numpy.get_include()],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
                extra_compile_args=compile_args,
                extra_link_args=link_args,
            )
        )
    return found


class Build(build):
    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_base = BUILD_BASE


class BuildExtensions(build_ext):
    """Translates with Cython only when something is compiled, not for metadata."""

    def build_extensions(self) -> None:
        for extension in self.extensions:
            extension.depends = [*extension.depends, "setup.py"]
            if extension.name.rpartition(".")[2] in LINKS_RUNTIME:
                self._link_runtime(extension)
        translated = cythonize(self.extensions, compiler_directives=DIRECTIVES, build_dir=f"{BUILD_BASE}/cython", quiet=True)  # type: ignore[no-untyped-call]
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        super().build_extensions()

    def _link_runtime(self, extension: Extension) -> None:
        core = runtime()
        extension.include_dirs += ["orbit_native", str(core / "include"), str(core / "src")]
        extension.sources = [*extension.sources, "orbit_native/runtime.c"]  # includes the runtime's own lib.c
        extension.depends = [*extension.depends, "orbit_native/runtime.h", *(str(path) for path in (core / "src").glob("*.c"))]
        extension.define_macros += [("TREE_SITTER_HIDE_SYMBOLS", None), ("_DEFAULT_SOURCE", None)]


class SourceArchive(sdist):
    """Adds the pinned runtime, so that the archive builds without an index."""

    def run(self) -> None:
        bundled()
        super().run()


EXTENSIONS = extensions()
LICENCES = ["LICENSE"]
if any(extension.name.rpartition(".")[2] in LINKS_RUNTIME for extension in EXTENSIONS) and runtime() == BUNDLED:
    LICENCES.append("third_party/tree_sitter/LICENSE")  # what is linked in goes with its licence
setup(ext_modules=EXTENSIONS, license_files=LICENCES, cmdclass={"build": Build, "build_ext": BuildExtensions, "sdist": SourceArchive})
