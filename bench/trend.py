"""The ratios of past runs, the last 200 of them, and a picture of how they went.

    python bench/trend.py      draws the ratios of all baselines this repository had into docs/trend.svg
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

BASELINE = Path(__file__).with_name("baseline.json")
PICTURE = BASELINE.parent.parent / "docs" / "trend.svg"
KEPT = 200
WIDTH, HEIGHT, MARGIN = 900, 520, 60  # room for 28 labels
COLOURS = ("#1b6ca8", "#c8553d", "#3f8f4f", "#8a5aa8", "#b08900", "#4aa3a2", "#b0407a", "#666666")


def add_to_trend(path: Path, ratios: dict[str, float]) -> None:
    """Append one run and draw the picture beside the record."""
    runs = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    runs = [*runs, {"at": int(time.time()), "ratios": ratios}][-KEPT:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(runs) + "\n", encoding="utf-8")
    path.with_suffix(".svg").write_text(draw([run["ratios"] for run in runs]), encoding="utf-8")


def draw(runs: list[dict[str, float]]) -> str:
    """Each row relative to its first run: a line that rises got slower."""
    labels = list(dict.fromkeys(label for run in runs for label in run))
    lines = {label: [run[label] / next(r[label] for r in runs if label in r) for run in runs if label in run] for label in labels}
    top = max([1.5, *(value for line in lines.values() for value in line)])
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">']
    for mark in (0.5, 1.0, top):
        y = _y(mark, top)
        parts.append(f'<line x1="{MARGIN}" x2="{WIDTH - 200}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ccc"/><text x="10" y="{y:.1f}">{mark:.1f}x</text>')
    for index, (label, line) in enumerate(lines.items()):
        colour = COLOURS[index % len(COLOURS)]
        step = (WIDTH - 200 - MARGIN) / max(1, len(line) - 1)
        points = " ".join(f"{MARGIN + at * step:.1f},{_y(value, top):.1f}" for at, value in enumerate(line))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(f'<text x="{WIDTH - 190}" y="{MARGIN + 16 * index}" fill="{colour}">{label}: {line[-1]:.2f}x of first</text>')
    return "\n".join([*parts, "</svg>", ""])


def _y(value: float, top: float) -> float:
    return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * value / top


def baselines() -> list[dict[str, float]]:
    """The ratios of each committed baseline, oldest first, and of the one in the worktree."""
    here = {"cwd": BASELINE.parent, "check": True, "capture_output": True, "text": True}
    commits = subprocess.run(["git", "log", "--reverse", "--format=%h", "--", BASELINE.name], **here).stdout.split()  # type: ignore[call-overload]
    texts = [subprocess.run(["git", "show", f"{commit}:./{BASELINE.name}"], **here).stdout for commit in commits]  # type: ignore[call-overload]
    if (now := BASELINE.read_text(encoding="utf-8")) not in texts[-1:]:
        texts.append(now)
    return [json.loads(text)["ratios"] for text in texts]


if __name__ == "__main__":
    PICTURE.write_text(draw(baselines()), encoding="utf-8")
