"""The viewer's web application: pages, frames by hash, and streams for what is still running."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from practicum.controller.viewer.access import Guard, Keys, exchange
from practicum.controller.viewer.library import Library, NotHere
from practicum.controller.viewer.live import LiveDesk
from practicum.controller.viewer.live_pages import LivePages
from practicum.controller.viewer.matrix import cells, totals
from practicum.controller.viewer.pages import (
    Links,
    embedded,
    run_page,
    trial_page,
    verdict_of,
)
from practicum.controller.viewer.streams import run_stream, trial_stream
from practicum.controller.viewer.thumbs import thumbnail

HERE = Path(__file__).parent
FOREVER = {"cache-control": "private, max-age=31536000, immutable"}
DRAWN = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
"""Evidence that a browser may draw, by its first bytes; all else is a download and cannot run."""


def application(
    library: Library, keys: Keys, hosts: frozenset[str], closing: Event, live: LiveDesk | None = None
) -> Starlette:
    """`hosts` are the values of the Host header that are ours, such as `127.0.0.1:8765`.

    Streams end once `closing` is set. With a `live` desk its page is the first.
    """
    pages = Pages(library, first="/live/" if live else None)
    one = "/run/{run}/trial/{trial}"
    routes = [
        Route("/enter", pages.enter),
        Route("/enter", partial(exchange, keys=keys), methods=["POST"]),
        Route("/", pages.index),
        Route("/run/{run}/", pages.run),
        Route("/run/{run}/events", partial(run_stream, library=library, closing=closing)),
        Route("/run/{run}/compare/", pages.compare),
        Route(f"{one}/", pages.trial),
        Route(f"{one}/events", partial(trial_stream, library=library, closing=closing)),
        Route(f"{one}/{{attempt}}/frames/{{sha256}}.png", pages.frame),
        Route(f"{one}/{{attempt}}/thumbs/{{sha256}}.jpg", pages.thumb),
        Route(f"{one}/{{attempt}}/evidence/{{sha256}}", pages.evidence),
        *(LivePages(live, pages.render).routes() if live else ()),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, keys=keys, hosts=hosts)],
        exception_handlers={NotHere: _not_here},
    )


def templates() -> jinja2.Environment:
    """The pages, escaping everything that is not marked as data."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["embedded"] = embedded
    return environment


class Pages:
    """Endpoints. Plain functions: Starlette runs them on its threads, since they read files."""

    def __init__(self, library: Library, first: str | None = None) -> None:
        self._library = library
        self._first = first
        self._views = templates()

    def enter(self, request: Request) -> Response:
        return self._page("enter.html")

    def index(self, request: Request) -> Response:
        if self._first:
            return RedirectResponse(self._first)
        names = list(self._library.runs)
        if len(names) == 1:
            return RedirectResponse(f"/run/{names[0]}/")
        rows = [(name, totals(cells(self._library.run(name)))) for name in names]
        return self._page("index.html", rows=rows)

    def run(self, request: Request) -> Response:
        name = request.path_params["run"]
        return self._page("run.html", page=run_page(name, self._library.run(name)))

    def trial(self, request: Request) -> Response:
        told = self._told(request, request.path_params["trial"])
        return self._page("trial.html", up="../../", **told)

    def compare(self, request: Request) -> Response:
        left, right = (self._told(request, request.query_params.get(side, "")) for side in ("a", "b"))
        return self._page("compare.html", up="../", left=left["page"], right=right["page"])

    def frame(self, request: Request) -> Response:
        path, _ = self._frame(request)
        return FileResponse(path, media_type="image/png", headers=FOREVER)

    def thumb(self, request: Request) -> Response:
        path, sha256 = self._frame(request)
        try:
            return Response(thumbnail(path, sha256), media_type="image/jpeg", headers=FOREVER)
        except ValueError as error:
            raise NotHere(str(error)) from error

    def evidence(self, request: Request) -> Response:
        wanted = request.path_params
        path = self._library.evidence(wanted["run"], wanted["trial"], wanted["attempt"], wanted["sha256"])
        with path.open("rb") as file:
            head = file.read(8)
        media = next((kind for magic, kind in DRAWN.items() if head.startswith(magic)), None)
        if media:
            return FileResponse(path, media_type=media, headers=FOREVER)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name, headers=FOREVER)

    def _frame(self, request: Request) -> tuple[Path, str]:
        wanted = request.path_params
        sha256 = wanted["sha256"]
        return self._library.frame(wanted["run"], wanted["trial"], wanted["attempt"], sha256), sha256

    def _told(self, request: Request, trial_id: str) -> dict[str, Any]:
        name, number = request.path_params["run"], request.query_params.get("attempt")
        run, trial = self._library.trial(name, trial_id)
        attempt = self._library.attempt(name, trial.id, number)
        where = served(name, trial.id, attempt.number)
        return {"page": trial_page(name, run, trial, number, where), "checks": verdict_of(attempt)}

    def _page(self, template: str, **told: Any) -> Response:
        return HTMLResponse(self.render(template, **told))

    def render(self, template: str, **told: Any) -> str:
        return self._views.get_template(template).render(static=False, **told)


def served(run: str, trial: str, attempt: int) -> Links:
    """Where this application serves the pictures of an attempt."""
    base = f"/run/{run}/trial/{trial}/{attempt}"
    return Links(f"{base}/frames/", f"{base}/thumbs/", f"{base}/evidence/")


def _not_here(_: Request, error: Exception) -> Response:
    return PlainTextResponse(f"Not here: {error}", status_code=404)
