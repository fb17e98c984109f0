"""Show and impact can say which decisions govern what they show."""

from __future__ import annotations

from pathlib import Path

from orbit.adr import AdrStore
from orbit.graph import Graph


def test_show_and_impact_list_the_decisions_that_govern_a_symbol(tmp_path: Path) -> None:
    (tmp_path / "pay.py").write_text("def charge() -> int:\n    return fee()\n\n\ndef fee() -> int:\n    return 1\n", encoding="utf-8")
    (tmp_path / ".orbit").mkdir()
    with AdrStore(tmp_path) as store:
        made = store.add(title="Fees are whole numbers", owner="ana", related_features=["pay"], paths=["pay.py"])
    with Graph.open(tmp_path) as graph:
        graph.sync()
        shown, touched = graph.show("fee", decisions=True), graph.impact("fee", decisions=True)
        assert [(one.id, one.status, one.via) for one in shown.decisions] == [(made.id, "proposed", "path")]
        assert touched.decisions == shown.decisions
        assert shown.decisions[0].governs == ["symbol:pay.py#pay.fee:function"]
        assert not hasattr(graph.show("fee").decisions, "__iter__")
