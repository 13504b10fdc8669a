"""A new task folder to begin from: small, complete, and already passing the fast check."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from practicum.tasks.errors import MalformedTask, TaskError, suggestion
from practicum.tasks.loader import DESK_ROOT, FILES
from practicum.tasks.taxonomy import taxonomy

STARTER = Path(__file__).with_name("starter")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def scaffold(name: str, under: Path | None = None) -> Path:
    """Make `CLUSTER/NAME` beside the other tasks, or in another root. Returns its folder.

    Raises `TaskError` for a name that cannot be one, and `MalformedTask` where it already is.
    """
    cluster, slash, short = name.partition("/")
    clusters = taxonomy().clusters
    if not slash or not _NAME.fullmatch(short):
        raise TaskError(f"{name!r} is not CLUSTER/NAME, with a name such as fuel-log")
    if cluster not in clusters:
        raise TaskError(
            f"no cluster {cluster!r}{suggestion(cluster, clusters)}; there are {', '.join(clusters)}"
        )
    folder = (under or DESK_ROOT) / cluster / short.replace("-", "_")
    if folder.exists():
        raise MalformedTask(folder, "is already there")
    folder.mkdir(parents=True)
    for file in FILES:
        shutil.copyfile(STARTER / file, folder / file)
    _fit(folder / "task.toml", clusters[cluster].subdomains[0], short.replace("-", " ").capitalize())
    for package in (folder.parent, folder):
        (package / "__init__.py").touch()
    return folder


def _fit(path: Path, subdomain: str, title: str) -> None:
    text = path.read_text(encoding="utf-8")
    for key, value in (("subdomain", subdomain), ("title", title)):
        text = re.sub(rf'^{key} = ".*"$', f'{key} = "{value}"', text, count=1, flags=re.MULTILINE)
    path.write_text(text, encoding="utf-8")
