"""Fails when a row of a benchmark run is more than 20% worse than the baseline, or when it found fewer facts.

    python bench/gate.py RESULT.json             compare with bench/baseline.json
    python bench/gate.py RESULT.json --bump      make the result the baseline (a change of its own, under the label `bench-baseline-bump`)
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

BASELINE = Path(__file__).with_name("baseline.json")
WORSE = 1.2
UNGATED = {"two threads"}  # wall time of two cores: says nothing on a machine that has other work
COUNTS = ("files", "symbols", "refs")
FEWER = 0.98  # languages learn; what they forget beyond this is not speed


def failures(result: dict[str, Any], baseline: dict[str, Any]) -> list[str]:
    """What is worse than the baseline allows, one sentence each."""
    found = []
    for label, ratio in baseline["ratios"].items():
        row = result["rows"].get(label)
        if row is None:
            found.append(f"{label}: not measured")
        elif row["ratio"] > WORSE * ratio:
            found.append(f"{label}: {row['ratio']:.2f}x of its floor, baseline {ratio:.2f}x")
    for name in COUNTS:
        if result["answers"][name] < FEWER * baseline["answers"][name]:
            found.append(f"{name}: {result['answers'][name]} found, baseline {baseline['answers'][name]}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("result", type=Path)
    parser.add_argument("--bump", action="store_true")
    given = parser.parse_args()
    result = json.loads(given.result.read_text(encoding="utf-8"))
    if given.bump:
        ratios = {label: round(row["ratio"], 3) for label, row in result["rows"].items() if label not in UNGATED}
        text = json.dumps({"ratios": ratios, "answers": {name: result["answers"][name] for name in COUNTS}}, indent=1)
        BASELINE.write_text(text + "\n", encoding="utf-8")
        return 0
    found = failures(result, json.loads(BASELINE.read_text(encoding="utf-8")))
    for sentence in found:
        print(sentence, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
