"""What each row must reach on 2 cores, and what it aims at; and the table that says which it did."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "BENCHMARKS.md"

# row: (what counts, must, aim). A ratio counts for cold builds, a time or a size where a user would count it.
TARGETS: dict[str, tuple[str, float, float]] = {
    "cold sync (mixed)": ("wall_ratio", 4.0, 2.5),
    "cold sync (django)": ("wall_ratio", 4.0, 2.5),
    "no-change sync (5,000 files)": ("seconds", 0.100, 0.030),
    "one file changed (5,000 files)": ("p95", 0.050, 0.015),
    "search (100k symbols)": ("p95", 0.005, 0.001),
    "refs (100k symbols)": ("p95", 0.010, 0.001),
    "impact (100k symbols)": ("p95", 0.050, 0.005),
    "refs as a command": ("seconds", 0.250, 0.120),
    "peak memory (mixed)": ("bytes", 200e6, 100e6),
    "idle memory (mixed)": ("bytes", 100e6, 100e6),
    "database (mixed)": ("bytes", 50e6, 20e6),
    "kernel: cold sync": ("seconds", 240, 75),
    "kernel: peak memory": ("bytes", 3e9, 1.5e9),
    "kernel: refs": ("p95", 0.050, 0.005),
    "kernel: one file changed": ("p95", 1.0, 0.2),
}
COLD_SECONDS = {"cold sync (mixed)": 3.0}  # beside the ratio


def verdict(label: str, row: dict[str, float]) -> str:
    if label not in TARGETS:
        return ""
    what, must, aim = TARGETS[label]
    seconds = COLD_SECONDS.get(label)
    wanted = amount(what, must) + (f" and {amount('seconds', seconds)}" if seconds else "")
    if row.get(what, 0.0) > must or (seconds and row["seconds"] > seconds):
        return f"missed (must {wanted})"
    return f"aim {amount(what, aim)} reached" if row.get(what, 0.0) <= aim else f"must {wanted} kept"


def report(rows: dict[str, dict[str, float]]) -> str:
    """A Markdown table of all rows."""
    lines = ["| row | measured | p95 | CPU | ratio to floor | wall ratio | target |", "|---|---|---|---|---|---|---|"]
    for label, row in rows.items():
        main = amount("bytes", row["bytes"]) if "bytes" in row else amount("seconds", row.get("seconds", row.get("cpu", 0.0)))
        cells = [amount("seconds", row[key]) if key in row else "" for key in ("p95", "cpu")]
        ratios = [f"{row[key]:.2f}" if key in row else "" for key in ("ratio", "wall_ratio")]
        lines.append(f"| {' | '.join([label, main, *cells, *ratios, verdict(label, row)])} |")
    return "\n".join(lines)


def amount(what: str, value: float) -> str:
    if what == "bytes":
        return f"{value / 1e6:.0f} MB" if value < 1e9 else f"{value / 1e9:.2f} GB"
    if what.endswith("ratio"):
        return f"{value:.1f}x"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.{0 if value >= 0.1 else 1 if value >= 0.01 else 2}f} ms"


def machine() -> str:
    """What the figures were taken on, and how busy it was."""
    models = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
    cores, model = len(os.sched_getaffinity(0)), models[0] if models else platform.machine()
    return f"{cores} cores ({model}), Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}."


def write_section(name: str, text: str) -> None:
    """Replace what stands between the marks of a section in docs/BENCHMARKS.md."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.sub(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda held: f"{held[1]}{text.rstrip()}\n{held[2]}", page, flags=re.DOTALL)
    PAGE.write_text(found, encoding="utf-8")
