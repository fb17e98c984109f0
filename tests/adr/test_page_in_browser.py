"""The HTML page in a real browser: opened from disk, filtered, clicked through."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync"
DRIVE = """<script>
const said = [], count = () => document.getElementById("count").textContent;
const set = (id, value, event) => { const node = document.getElementById(id); node.value = value; node.dispatchEvent(new Event(event)); };
const press = name => document.querySelector(`button[data-name=${name}]`).click();
said.push(count());
set("words", "zebra", "input"); said.push(count()); set("words", "", "input");
set("feature", "herd", "change"); said.push(count()); set("feature", "", "change");
set("tag", "striped", "change"); said.push(count()); set("tag", "", "change");
press("superseded"); said.push(count()); press("superseded");
document.querySelectorAll("ul.list button")[2].click(); said.push(document.querySelector("#detail .id").textContent);
press("Timeline"); said.push(document.querySelectorAll("#view circle").length);
press("Supersedes"); said.push(document.querySelectorAll("#view g.node").length, document.querySelectorAll("#view path.edge").length);
document.title = said.join(",");
</script></body>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no browser on this machine")
def test_filters_views_and_links_work_from_disk(repo, store, tmp_path):
    old, new = repo.accepted("Old", context="A zebra."), repo.accepted("New", related_features=["core", "herd"])
    store.supersede(old, new)
    repo.add("Third </script>", tags=["striped"])
    store.render(html="decisions.html")
    page = repo.write("driven.html", repo.read("decisions.html").replace("</body>", DRIVE))
    command = [BROWSER, *FLAGS.split(), "--virtual-time-budget=3000", "--dump-dom", f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert re.search("<title>(.*?)</title>", dom)[1] == "3,1 of 3,1 of 3,1 of 3,2 of 3,ADR-0001,4,2,1"
