"""Operations that give a change its context: packs, history, the impact of a diff."""

from __future__ import annotations

import msgspec

from orbit.graph.query import history, pack, picture
from orbit.operations import Operation, Session


def _pack(session: Session, ask: pack.PackParams) -> pack.PackAnswer:
    return session.graph.pack(**msgspec.structs.asdict(ask))


def _history(session: Session, ask: history.HistoryParams) -> history.HistoryAnswer:
    return session.graph.history(**msgspec.structs.asdict(ask), progress=session.progress)


def _picture(session: Session, ask: picture.PictureParams) -> picture.PictureAnswer:
    return session.graph.picture(**msgspec.structs.asdict(ask))


CONTEXT = {
    "graph.pack": Operation(
        "Sources and summaries of selected things within a token budget, ready to paste.",
        pack.PackParams,
        pack.PackAnswer,
        _pack,
        examples=("orbit graph pack Scheduler.run file:src/jobs.py --max-tokens 6000", "orbit graph pack dir:src/jobs command:serve --refresh"),
    ),
    "graph.history": Operation(
        "Which tasks and commits touched a symbol, file or folder.",
        history.HistoryParams,
        history.HistoryAnswer,
        _history,
        examples=("orbit graph history Scheduler.run", r"orbit graph history file:src/jobs.py --task-id-pattern '#\d+'"),
    ),
    "graph.picture": Operation(
        "Boxes and arrows of an overview or an impact, as many as a page holds.",
        picture.PictureParams,
        picture.PictureAnswer,
        _picture,
        examples=("orbit graph overview --format full --html > overview.html", "orbit graph impact Scheduler.run --dot | dot -Tsvg > impact.svg"),
    ),
}
