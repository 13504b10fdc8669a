"""Server-sent events for what is still running, driven by changes of the record's own files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Event

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from watchfiles import awatch

from practicum.controller.store import Run
from practicum.controller.viewer.library import Library, fault_log
from practicum.controller.viewer.matrix import Cell, cell, cells, totals
from practicum.controller.viewer.moments import film
from practicum.controller.viewer.pages import money

DEBOUNCE_MS = 300
HEARTBEAT_MS = 15_000


def run_stream(request: Request, library: Library, closing: Event) -> Response:
    """`update` events: the cells that changed, the totals, and what is spent."""
    run = library.run(request.path_params["run"])
    return _stream(_run_updates(run, closing))


def trial_stream(request: Request, library: Library, closing: Event) -> Response:
    """`update` events: the moments from `?from=` on, the frames, and the trial's cell."""
    name, trial_id = request.path_params["run"], request.path_params["trial"]
    run, trial = library.trial(name, trial_id)
    attempt = library.attempt(name, trial_id, request.query_params.get("attempt"))

    def look() -> bytes:
        log = fault_log(attempt)
        shown = film(attempt.steps(), log.calls if log else ())
        return msgspec.json.encode({"film": shown, "cell": cell(run, trial)})

    return _stream(_changes_of(attempt.root, look, closing))


async def _run_updates(run: Run, closing: Event) -> AsyncIterator[bytes]:
    known: dict[str, Cell] = {}

    def look() -> bytes:
        shown = cells(run)
        changed = [item for item in shown if known.get(item.id) != item]
        known.update({item.id: item for item in changed})
        return msgspec.json.encode({"cells": changed, "totals": totals(shown), "money": money(run)})

    async for data in _changes_of(run.root, look, closing):
        yield data


async def _changes_of(folder: Path, look: Callable[[], bytes], closing: Event) -> AsyncIterator[bytes]:
    """What `look` sees, first at once and then whenever a file directly in `folder` changes."""
    seen = await run_in_threadpool(look)
    yield _event(seen)
    watching = awatch(
        folder,
        recursive=False,
        debounce=DEBOUNCE_MS,
        rust_timeout=HEARTBEAT_MS,
        yield_on_timeout=True,
        stop_event=closing,
    )
    async for _ in watching:
        now = await run_in_threadpool(look)
        yield _event(now) if now != seen else b": still here\n\n"
        seen = now


def _event(data: bytes) -> bytes:
    return b"event: update\ndata: " + data + b"\n\n"


def _stream(events: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream", headers={"x-accel-buffering": "no"})
