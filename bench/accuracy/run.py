"""Accuracy: fetch the packages of dev/, sync each, score the graph against compilers, print the tables and write docs/ACCURACY.md."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import score

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
WORK = PROJECT / "build" / "accuracy"
REPORT = PROJECT / "docs" / "ACCURACY.md"

PRECISION = {"exact": 0.98, "import_resolved": 0.97, "same_module": 0.95}
RECALL = {"plain": 0.85, "receiver": 0.60}
RECALL_OF = {("c", "plain"): 0.80}  # macros written by macros are not to be seen
FLOOR = "recall@same_module"


def fetch(source: Path) -> Path:
    """The package of a SOURCE.txt, fetched once, a repository of its own so that no ignore rule around it counts."""
    place = WORK / "corpora" / source.parent.name
    if not (place / ".git").exists():
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([str(HERE / "fetch_corpus.sh"), str(source), str(place)], check=True)
        subprocess.run(["git", "init", "--quiet", str(place)], check=True)
    return place


def sync(place: Path) -> str:
    """Build the graph of a package; the path of its database."""
    command = [str(Path(sys.executable).parent / "orbit"), "graph", "sync", "--full", "--json"]
    done = subprocess.run(command, cwd=place, check=True, stdout=subprocess.PIPE, text=True)
    return str(place / json.loads(done.stdout)["db"])


def rows_of(language: str, scores: dict[str, Any]) -> list[tuple[str, str, int, float | None, float]]:
    """(language, what, how many, measured, wanted)"""
    rows = []
    for rung, wanted in PRECISION.items():
        calls = scores["rungs"].get(rung, {}).get("call")
        if calls:
            rows.append((language, f"precision of calls, `{rung}`", calls["opinion"], calls["precision"], wanted))
    for shape, wanted in RECALL.items():
        sites = scores["calls"].get(shape)
        if sites:
            label = "recall of calls without a receiver" if shape == "plain" else "recall of calls with a receiver"
            rows.append((language, label, sites["sites"], sites[FLOOR], RECALL_OF.get((language, shape), wanted)))
    return rows


def main() -> int:
    totals: dict[str, Counter[Any]] = {}
    packages = []
    missed = 0
    for source in sorted(HERE.glob("dev/*/*/SOURCE.txt")):
        language, package = source.parent.parent.name, source.parent.name
        try:
            place = fetch(source)
        except subprocess.CalledProcessError as error:
            print(f"{package}: not fetched, not scored ({error})", file=sys.stderr)
            packages.append((language, package, "not fetched", "-"))
            missed += 1
            continue
        counts, _, files, symbols = score.evaluate(language, str(place), str(source.parent), sync(place))
        totals.setdefault(language, Counter()).update(counts)
        packages.append((language, package, files, symbols))
    lines = ["# Accuracy", "", "Written by `make accuracy`: the graph against what compilers say, on the packages of `bench/accuracy/dev`.", ""]
    lines += ["| language | measure | of | measured | wanted |", "|---|---|---|---|---|"]
    for language, counts in totals.items():
        scores = score.report(counts)
        score.table(f"LANGUAGE {language}", scores)
        for _, label, many, measured, wanted in rows_of(language, scores):
            missed += measured is not None and measured < wanted
            lines.append(f"| {language} | {label} | {many} | {'-' if measured is None else f'{measured:.3f}'} | {wanted:.2f} |")
    lines += ["", "| language | package | files | symbols |", "|---|---|---|---|"]
    lines += [f"| {language} | {package} | {files} | {symbols} |" for language, package, files, symbols in packages]
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"\n{REPORT.relative_to(PROJECT)} written; {missed} below what is wanted")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
