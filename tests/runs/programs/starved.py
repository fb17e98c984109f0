"""A program that is recorded while its disk fails. Arguments: root, what fails. Prints a JSON account of how it went for the program."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys

from orbit import Run
from orbit.runs.event import StepSkipped


def main(root: str, what: str) -> None:
    if what == "limit":  # every file of this process may grow to 6 kB only
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
    if what == "readonly" and os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)  # permissions do not bind the superuser
    finished = 0
    with Run.start(workflow_id="starved", root=root, run_id="r") as run:
        for name in ("one", "two"):
            with run.step(name, requires=("validation_report",)) as step:
                for number in range(100):
                    run.emit(StepSkipped(step_id=name, reason=f"{number}"))
                step.artifact(role="validation_report", content="r" * 100)
            finished += 1
    journal = run.journal
    print(json.dumps({"finished": finished, "lost": journal.unwritten, "failures": journal.failures, "error": journal.first_error, "head": run.head}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
