"""The gate of the benchmarks: what it lets through and what it does not."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
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
    assert gate.failures([result(1.1)], BASELINE) == []
    assert gate.failures([result(1.3)], BASELINE) == ["cold sync: 5.20x of its floor, baseline 4.00x"]


def test_one_slow_run_of_several_is_noise_but_all_of_them_slow_is_not() -> None:
    gate = load("gate")
    assert gate.failures([result(1.5), result(1.1)], BASELINE) == []
    assert gate.failures([result(1.5), result(1.3)], BASELINE) == ["cold sync: 5.20x of its floor, baseline 4.00x"]


def test_fewer_facts_do_not_pass_for_speed_in_any_run() -> None:
    assert load("gate").failures([result(0.5, symbols=900), result()], BASELINE) == ["symbols: 900 found, baseline 1000"]


def test_a_row_that_was_not_measured_fails() -> None:
    measured = result()
    del measured["rows"]["refs"]
    assert load("gate").failures([measured], BASELINE) == ["refs: not measured"]


def test_a_baseline_is_the_median_of_what_all_runs_measured() -> None:
    extra = result(2.0)
    extra["rows"]["only once"] = {"ratio": 1.0}
    assert load("gate").make_baseline([result(0.5), result(), extra]) == BASELINE


def test_the_committed_baseline_has_a_row_for_each_stage_a_slow_down_is_planted_in() -> None:
    gate = load("gate")
    ratios = json.loads(gate.BASELINE.read_text())["ratios"]
    assert {row for rows in gate.PLANTS.values() for row in rows} <= set(ratios)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that stands for a stage: it works for 50 ms of CPU in a function that calls another."""
    (tmp_path / "planted_stage.py").write_text(
        "import contextlib, time\ndef work():\n    step()\ndef step():\n    end = time.thread_time() + 0.05\n    while time.thread_time() < end: pass\n"
        "@contextlib.contextmanager\ndef around():\n    yield\n    step()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("planted_stage")
    sys.modules.pop("planted_stage")


def spent(stage: Any) -> float:
    started = time.thread_time()
    stage.work()
    return time.thread_time() - started


def test_a_planted_slow_down_takes_thirty_percent_more_and_goes_when_it_is_removed(stage: Any) -> None:
    clock = load("stages").Clock({"work": ("planted_stage",)}, 0.3)
    assert 0.064 <= spent(stage) < 0.075
    clock.remove()
    assert spent(stage) < 0.055


@pytest.mark.parametrize("door", ["function", "context manager"])
def test_a_clock_over_a_planted_stage_sees_the_slow_down(stage: Any, door: str) -> None:
    stages = load("stages")
    planted, clock = stages.Clock({"work": ("planted_stage",)}, 0.3), stages.Clock({"work": ("planted_stage",)})
    if door == "function":
        stage.work()
    else:
        with stage.around():
            pass
    clock.remove()
    planted.remove()
    assert 0.064 <= sum(clock.stretches["work"]) < 0.075


def test_the_trend_keeps_the_last_two_hundred_runs_and_a_picture(tmp_path: Path) -> None:
    trend, record = load("trend"), tmp_path / "trend.json"
    record.write_text(json.dumps([{"at": at, "ratios": {"refs": 1.0}} for at in range(200)]))
    trend.add_to_trend(record, {"refs": 2.0})
    runs = json.loads(record.read_text())
    assert (len(runs), runs[0]["at"], runs[-1]["ratios"]) == (200, 1, {"refs": 2.0})
    assert "refs: 2.00x of first" in record.with_suffix(".svg").read_text()
