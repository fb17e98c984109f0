"""The gate of the benchmarks: what it lets through and what it does not."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parent.parent / "bench"
pytestmark = pytest.mark.skipif(not (BENCH / "gate.py").is_file(), reason="only in the source tree")

BASELINE = {"ratios": {"cold sync": 4.0, "refs": 10.0}, "answers": {"files": 10, "symbols": 1000, "refs": 5000}}


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def result(factor: float = 1.0, symbols: int = 1000) -> dict[str, Any]:
    return {"rows": {"cold sync": {"ratio": 4.0 * factor}, "refs": {"ratio": 10.0}}, "answers": {"files": 10, "symbols": symbols, "refs": 5000}}


def test_a_row_ten_percent_worse_passes_and_one_thirty_percent_worse_fails() -> None:
    gate = load("gate")
    assert gate.failures(result(1.1), BASELINE) == []
    assert gate.failures(result(1.3), BASELINE) == ["cold sync: 5.20x of its floor, baseline 4.00x"]


def test_fewer_facts_do_not_pass_for_speed() -> None:
    assert load("gate").failures(result(0.5, symbols=900), BASELINE) == ["symbols: 900 found, baseline 1000"]


def test_a_row_that_was_not_measured_fails() -> None:
    measured = result()
    del measured["rows"]["refs"]
    assert load("gate").failures(measured, BASELINE) == ["refs: not measured"]


def test_the_trend_keeps_the_last_two_hundred_runs_and_a_picture(tmp_path: Path) -> None:
    trend, record = load("trend"), tmp_path / "trend.json"
    record.write_text(json.dumps([{"at": at, "ratios": {"refs": 1.0}} for at in range(200)]))
    trend.add_to_trend(record, {"refs": 2.0})
    runs = json.loads(record.read_text())
    assert (len(runs), runs[0]["at"], runs[-1]["ratios"]) == (200, 1, {"refs": 2.0})
    assert "refs: 2.00x of first" in record.with_suffix(".svg").read_text()
