"""Builds the sdist and from it a wheel, installs that in an empty environment away from the source tree, measures it and tests it there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
DIST = HERE / "dist"
LIMIT = 40_000_000  # bytes installed: the wheel and all it depends on, without numpy
NOT_COUNTED = {"numpy", "numpy.libs", "pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence.pth", "__pycache__"}


def main() -> int:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, HERE)  # the wheel is made from the sdist, not from the tree
    (wheel,) = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as scratch:
        empty = Path(scratch, "env")
        venv.create(empty, with_pip=True)
        python = empty / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
        run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel)
        total = report(site_packages(python))
        run(python, "-m", "pip", "install", "--quiet", "--group", f"{HERE / 'pyproject.toml'}:test")
        test(python, Path(scratch, "elsewhere"))
    print(f"wheel {wheel.stat().st_size / 1e6:.1f} MB, installed without numpy {total / 1e6:.1f} MB of {LIMIT / 1e6:.0f} MB")
    return 0 if total <= LIMIT else 1


def site_packages(python: Path) -> Path:
    found = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"], check=True, capture_output=True, text=True)
    return Path(found.stdout.strip())


def report(site: Path) -> int:
    """Print what each installed package weighs without byte code; returns the sum."""
    sizes: Counter[str] = Counter()
    for path in site.rglob("*"):
        top = path.relative_to(site).parts[0]
        if path.is_file() and path.suffix != ".pyc" and top not in NOT_COUNTED and not top.startswith(("numpy-", "pip-", "setuptools-")):
            sizes[top] += path.stat().st_size
    for name, size in sizes.most_common():
        if size >= 100_000:
            print(f"{size / 1e6:8.2f} MB  {name}")
    return sizes.total()


def test(python: Path, elsewhere: Path) -> None:
    """Run the tests from a folder that holds them and nothing of the package."""
    shutil.copytree(HERE / "tests", elsewhere / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "pyproject.toml", elsewhere)
    where = "import orbit, orbit_native, sysconfig; assert all(p.__file__.startswith(sysconfig.get_path('platlib')) for p in (orbit, orbit_native))"
    run(python, "-c", where, cwd=elsewhere)
    run(python.parent / "pytest", "-p", "no:cacheprovider", cwd=elsewhere)


def run(*command: str | Path, cwd: Path | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd)


if __name__ == "__main__":
    sys.exit(main())
