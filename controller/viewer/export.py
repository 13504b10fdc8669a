"""A run as a folder of pages that needs no server: nothing is fetched, scripts and data stand in the page.

Browsers refuse module imports from `file:`, so each page carries its own script and the shared one, joined.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from practicum.controller.errors import BadRequest
from practicum.controller.store import Attempt, Run
from practicum.controller.viewer.app import HERE, templates
from practicum.controller.viewer.library import NotHere, pick
from practicum.controller.viewer.pages import Links, run_page, trial_page, verdict_of
from practicum.controller.viewer.thumbs import thumbnail

_INDEX = "index.html"
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
_LINKS = Links("../../frames/", "../../thumbs/", "../../evidence/")


def export(run: Run, target: Path, progress: Callable[[str], None] = lambda _: None) -> int:
    """Write the site; returns how many trials it holds. Raises `BadRequest` where the folder is not empty."""
    if target.exists() and any(target.iterdir()):
        raise BadRequest(f"{target} is not empty")
    for part in ("frames", "thumbs", "evidence", "trial"):
        (target / part).mkdir(parents=True, exist_ok=True)
    name = run.root.name
    _write(target / _INDEX, "run", {"page": run_page(name, run, _INDEX)})
    written = 0
    for trial in run.plan().trials:
        progress(trial.id)
        try:
            attempt = pick(run.trial(trial.id), None)
        except NotHere:
            continue
        page = trial_page(name, run, trial, None, _LINKS)
        _copy_pictures(attempt, [frame.sha256 for frame in page.film.frames], target)
        folder = target / "trial" / trial.id
        folder.mkdir()
        told = {"page": page, "checks": verdict_of(attempt), "up": f"../../{_INDEX}"}
        _write(folder / _INDEX, "trial", told)
        written += 1
    return written


def bundle(page: str) -> str:
    """The page's script with what it imports, as one script of its own scope."""
    static = HERE / "static"
    shared = (static / "common.js").read_text().replace("export ", "")
    own = _IMPORT.sub("", (static / f"{page}.js").read_text())
    return f"(() => {{\n{shared}\n{own}\n}})();".replace("</", "<\\/")


def _write(path: Path, kind: str, told: Mapping[str, object]) -> None:
    view = templates().get_template(f"{kind}.html")
    style = (HERE / "static" / "app.css").read_text()
    path.write_text(view.render(static=True, style=style, script=bundle(kind), **told))


def _copy_pictures(attempt: Attempt, frames: list[str], target: Path) -> None:
    for sha256 in frames:
        source, copy = attempt.frame_path(sha256), target / "frames" / f"{sha256}.png"
        if source.is_file() and not copy.exists():
            shutil.copyfile(source, copy)
            (target / "thumbs" / f"{sha256}.jpg").write_bytes(thumbnail(source, sha256))
    if attempt.evidence.is_dir():
        for file in attempt.evidence.iterdir():
            shutil.copyfile(file, target / "evidence" / file.name)
