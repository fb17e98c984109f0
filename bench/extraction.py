"""CPU of extraction over CPU of parsing alone on the same files, per language and overall; and what a second thread brings.

    python bench/extraction.py [--corpus mixed] [--rounds 5] [--language python ...] [--json FILE]

CPU time of this process, rounds interleaved, the best of each kept: another load on the machine then moves both sides or neither.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from corpus import corpus
from measure import parse_all, sources

from orbit.graph.index.extract import extract, kernel
from orbit.graph.index.pack import Batch, extract_batch
from orbit.graph.languages import language as find_language
from orbit_native.names import Names

BUDGET_SECONDS = 60.0
BATCH_BYTES = 1 << 20


def capture_all(name: str, contents: list[bytes]) -> None:
    query, _ = kernel(name)
    names = Names()
    for source in contents:
        query.capture(source, names, BUDGET_SECONDS)


def extract_all(name: str, contents: list[bytes]) -> None:
    language, names = find_language(name), Names()
    for source in contents:
        extract(language, source, names, BUDGET_SECONDS)


def cpu(work: Callable[[str, list[bytes]], None], name: str, contents: list[bytes]) -> float:
    started = time.process_time()
    work(name, contents)
    return time.process_time() - started


def count_facts(name: str, contents: list[bytes]) -> list[int]:
    """What was found: fewer facts are not faster."""
    language, names = find_language(name), Names()
    totals = [0, 0, 0]
    for source in contents:
        facts = extract(language, source, names, BUDGET_SECONDS)
        totals = [totals[0] + len(facts.definitions), totals[1] + len(facts.refs), totals[2] + len(facts.binds)]
    return totals


def measure(folder: Path, wanted: list[str], rounds: int) -> dict[str, Any]:
    """Rows by language: lines, facts, seconds of parsing, capturing, extracting, and the two ratios to parsing."""
    rows: dict[str, Any] = {}
    for name, contents in sorted(sources(folder, wanted).items()):
        counts = count_facts(name, contents)
        best = {"parse": 1e9, "capture": 1e9, "extract": 1e9}
        for _ in range(rounds):
            for label, work in (("parse", parse_all), ("capture", capture_all), ("extract", extract_all)):
                best[label] = min(best[label], cpu(work, name, contents))
        lines = sum(source.count(b"\n") for source in contents)
        rows[name] = {"files": len(contents), "lines": lines, "bytes": sum(map(len, contents)), "facts": counts, **best}
    rows["all"] = {key: sum(row[key] for row in rows.values()) for key in ("files", "lines", "bytes", "parse", "capture", "extract")}
    rows["all"]["facts"] = [sum(row["facts"][i] for row in rows.values() if "facts" in row) for i in range(3)]
    for row in rows.values():
        row["capture_ratio"], row["extract_ratio"] = row["capture"] / row["parse"], row["extract"] / row["parse"]
    return rows


def threads(folder: Path, wanted: list[str], rounds: int) -> dict[str, float]:
    """Wall seconds of extracting all in batches, in one thread and in two, interleaved, best of the rounds."""
    work: list[Batch] = []
    for name, contents in sources(folder, wanted).items():
        batch = Batch(name, [], [], [], BUDGET_SECONDS)
        for source in contents:
            if sum(map(len, batch.sources)) > BATCH_BYTES // 4:
                work.append(batch)
                batch = Batch(name, [], [], [], BUDGET_SECONDS)
            batch.paths.append("file")
            batch.modules.append("")
            batch.sources.append(source)
        work.append(batch)
    work.sort(key=lambda batch: -sum(map(len, batch.sources)))
    best = {1: 1e9, 2: 1e9}
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(2) as two:
        for _ in range(rounds):
            for count, pool in ((1, one), (2, two)):
                started = time.perf_counter()
                for _done in pool.map(extract_batch, work):
                    pass
                best[count] = min(best[count], time.perf_counter() - started)
    return {"one": best[1], "two": best[2], "speed_up": best[1] / best[2]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpus", default="mixed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--language", nargs="*", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-threads", action="store_true")
    given = parser.parse_args()
    folder = corpus(given.corpus)
    rows = measure(folder, given.language, given.rounds)
    print(f"{'language':12} {'files':>6} {'lines':>8} {'parse ms':>9} {'capture':>8} {'extract':>8}   defs/refs/binds")
    for name, row in rows.items():
        counts = "/".join(map(str, row["facts"]))
        print(f"{name:12} {row['files']:6} {row['lines']:8} {row['parse'] * 1000:9.1f} {row['capture_ratio']:7.2f}x {row['extract_ratio']:7.2f}x   {counts}")
    result: dict[str, Any] = {"extraction": rows}
    if not given.no_threads:
        result["threads"] = threads(folder, given.language, given.rounds)
        print(f"two threads over one: {result['threads']['speed_up']:.2f}x ({result['threads']['one']:.2f} s, {result['threads']['two']:.2f} s)")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
