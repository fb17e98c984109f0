"""Builds the native core. Finds the tree-sitter C runtime; everything else is in pyproject.toml."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = Path(__file__).resolve().parent
RUNTIME = "tree-sitter==0.26.0"
RUNTIME_SHA256 = "b40c219edccc4564530c96f8f1556f6202b37cda964d1cbd7bd2b7e68b40a245"
BUNDLED = HERE / "third_party" / "tree_sitter"  # inside our sdist; never committed
DIRECTIVES = {"language_level": 3, "boundscheck": False, "wraparound": False, "initializedcheck": False, "cdivision": True, "embedsignature": True}


def runtime() -> Path:
    """The folder with `include/` and `src/` of the tree-sitter C runtime."""
    named = os.environ.get("ORBIT_TREE_SITTER_SRC")
    if named:
        return _checked(Path(named))
    if BUNDLED.is_dir():
        return _checked(BUNDLED)
    _download()
    return _checked(BUNDLED)


def _checked(folder: Path) -> Path:
    if not (folder / "src" / "lib.c").is_file() or not (folder / "include" / "tree_sitter" / "api.h").is_file():
        raise SystemExit(f"no tree-sitter C runtime in {folder}: expected src/lib.c and include/tree_sitter/api.h")
    return folder


def _download() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", scratch, RUNTIME]
        subprocess.run(fetch, check=True)
        (archive,) = Path(scratch).glob("tree_sitter-*.tar.gz")
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != RUNTIME_SHA256:
            raise SystemExit(f"{RUNTIME}: sha256 is {found}, expected {RUNTIME_SHA256}")
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        (core,) = Path(scratch).glob("tree_sitter-*/tree_sitter/core/lib")
        BUNDLED.parent.mkdir(parents=True, exist_ok=True)
        core.rename(BUNDLED)


def extensions() -> list[Extension]:
    core = runtime()
    flags = ["/O2"] if sys.platform == "win32" else ["-O2", "-std=c11", "-Wno-unused-function"]
    macros = [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")]
    found = []
    for source in sorted((HERE / "orbit_native").glob("*.pyx")):
        name = f"orbit_native.{source.stem}"
        includes, sources = [numpy.get_include()], [source.relative_to(HERE).as_posix()]
        if source.stem == "capture":
            includes += [str(core / "include"), str(core / "src")]
            sources.append(os.path.relpath(core / "src" / "lib.c", HERE))
        found.append(Extension(name, sources, include_dirs=includes, define_macros=macros, extra_compile_args=flags))
    return found


setup(ext_modules=cythonize(extensions(), compiler_directives=DIRECTIVES))
