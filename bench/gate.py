"""Fails when a row of the benchmarks is more than 20% worse than the baseline, or when fewer facts were found.

    python bench/gate.py [RESULT.json ...]       compare the best of these results with bench/baseline.json
    python bench/gate.py --runs 3                measure, and those rows once more that fail: noise passes, a slower program does not
    python bench/gate.py RESULT.json ... --bump  make their median the baseline (a change of its own, under the label `bench-baseline-bump`)
    python bench/gate.py --prove                 the gate's own test: ten gates of an unchanged tree pass, a slow-down planted in a stage fails
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

BASELINE = Path(__file__).with_name("baseline.json")
RUN = Path(__file__).with_name("run.py")
WORSE = 1.2
ROUNDS = 2
COUNTS = ("files", "symbols", "refs")
FEWER = 0.98  # languages learn; what they forget beyond this is not speed
PARTS = {  # of run.py, by the beginning of a row's label
    "cold": ("cold", "peak", "database"),
    "questions": ("search", "refs (", "callees", "impact"),
    "commands": ("refs as", "idle"),
    "stages": ("stage",),
    "refresh": ("no-change", "one file"),
}
PLANTS = {  # the rows of which at least one must fail when the stage is made slower
    "extraction": ["stage: extraction"],
    "resolution": ["stage: resolution"],
    "write": ["stage: write"],
    "query": ["search (mixed)", "refs (mixed)", "callees (mixed)", "impact (mixed)"],
}


def failures(results: list[dict[str, Any]], baseline: dict[str, Any]) -> list[str]:
    """What is worse in every result than the baseline allows, one sentence each. Facts must be there in each of them."""
    found = []
    for label, ratio in baseline["ratios"].items():
        measured = [result["rows"][label]["ratio"] for result in results if label in result["rows"]]
        if not measured:
            found.append(f"{label}: not measured")
        elif min(measured) > WORSE * ratio:
            found.append(f"{label}: {min(measured):.2f}x of its floor, baseline {ratio:.2f}x")
    for name in COUNTS:
        least = min(result["answers"][name] for result in results)
        if least < FEWER * baseline["answers"][name]:
            found.append(f"{name}: {least} found, baseline {baseline['answers'][name]}")
    return found


def make_baseline(results: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each row that all results have."""
    labels = [label for label in results[0]["rows"] if all(label in result["rows"] for result in results)]
    ratios = {label: round(median(result["rows"][label]["ratio"] for result in results), 3) for label in labels}
    return {"ratios": ratios, "answers": {name: results[0]["answers"][name] for name in COUNTS}}


def measure(parts: list[str], planted: str | None = None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as room:
        result = Path(room, "result.json")
        options = ["--plant", planted] if planted else ["--trend", str(Path(room, "trend.json"))]
        command = [sys.executable, str(RUN), "--quick", "--rounds", str(ROUNDS), "--json", str(result), "--only", *parts, *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        return found


def gate(baseline: dict[str, Any], runs: int, planted: str | None = None) -> tuple[list[str], int]:
    """(failures, runs needed): what fails is measured again, so many times at most."""
    parts = list(PARTS)
    if planted:  # only its own rows are looked at
        baseline = {**baseline, "ratios": {row: baseline["ratios"][row] for row in PLANTS[planted]}}
        parts = _parts(PLANTS[planted])
    results: list[dict[str, Any]] = []
    found: list[str] = []
    while len(results) < runs:
        results.append(measure(parts, planted))
        found = failures(results, baseline)
        if not found:
            break
        parts = _parts(found) or list(PARTS)
    return found, len(results)


def _parts(labels: list[str]) -> list[str]:
    return [part for part, beginnings in PARTS.items() if any(label.startswith(beginnings) for label in labels)]


def prove(baseline: dict[str, Any], runs: int, times: int) -> bool:
    """Does the gate pass what is unchanged, and catch what is slower?"""
    right = True
    for planted in PLANTS:
        found, _ = gate(baseline, runs, planted)
        right &= bool(found)
        print(f"planted in {planted}: {'caught' if found else 'MISSED'}; {'; '.join(found)}", flush=True)
    for number in range(times):
        found, needed = gate(baseline, runs)
        right &= not found
        print(f"unchanged, gate {number + 1}: {'FAILED ' + '; '.join(found) if found else f'passed, {needed} runs'}", flush=True)
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("results", type=Path, nargs="*")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--bump", action="store_true")
    parser.add_argument("--prove", type=int, nargs="?", const=10)
    given = parser.parse_args()
    results = [json.loads(path.read_text(encoding="utf-8")) for path in given.results]
    if given.bump:
        made = make_baseline(results or [measure(list(PARTS)) for _ in range(given.runs)])
        BASELINE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        return 0
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    if given.prove is not None:
        return 0 if prove(baseline, given.runs, given.prove) else 1
    found = failures(results, baseline) if results else gate(baseline, given.runs)[0]
    for sentence in found:
        print(sentence, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
