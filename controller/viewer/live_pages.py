"""The web side of a live desk: its page, its picture, and what a person's hands send."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from practicum.controller.errors import BadRequest
from practicum.controller.viewer.live import LiveDesk
from practicum.controller.viewer.safe import visible
from practicum.infra.errors import InfraError
from practicum.verifiers.errors import VerifierError

MAX_BODY = 64 << 10
Render = Callable[..., str]


class LivePages:
    """Endpoints of one live desk. A desk that is lost answers 503 with the reason."""

    def __init__(self, live: LiveDesk, render: Render) -> None:
        self._live = live
        self._render = render

    def routes(self) -> list[Route]:
        return [
            Route("/live/", self.page),
            Route("/live/frame", self.frame),
            Route("/live/act", self.act, methods=["POST"]),
            Route("/live/grade", self.grade, methods=["POST"]),
            Route("/live/script", self.script),
        ]

    def page(self, request: Request) -> Response:
        live = self._live
        return HTMLResponse(self._render("live.html", spec=live.desk.spec, instance=live.instance))

    def frame(self, request: Request) -> Response:
        """The screen; 304 when it is the one that the browser has."""
        try:
            frame = self._live.frame()
        except InfraError as error:
            return PlainTextResponse(visible(str(error)), status_code=503)
        tag = f'"{frame.digest}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"etag": tag})
        return Response(frame.png, media_type="image/png", headers={"etag": tag, "cache-control": "no-cache"})

    async def act(self, request: Request) -> Response:
        arguments = await _body(request)
        return await run_in_threadpool(self._act, arguments)

    def _act(self, arguments: dict[str, object]) -> Response:
        try:
            wrong = self._live.act(arguments)
        except InfraError as error:
            return PlainTextResponse(visible(str(error)), status_code=503)
        return PlainTextResponse(visible(wrong), status_code=422 if wrong else 200)

    def grade(self, request: Request) -> Response:
        try:
            verdict = self._live.grade()
        except (InfraError, VerifierError, BadRequest) as error:
            return PlainTextResponse(visible(str(error)), status_code=503)
        return HTMLResponse(self._render("graded.html", verdict=verdict))

    def script(self, request: Request) -> Response:
        return PlainTextResponse(self._live.script())


async def _body(request: Request) -> dict[str, object]:
    """JSON only: a form of another site cannot send that without asking first."""
    if request.headers.get("content-type") != "application/json":
        raise HTTPException(415)
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY:
            raise HTTPException(413)
    try:
        return msgspec.json.decode(data, type=dict[str, object])
    except msgspec.MsgspecError as error:
        raise HTTPException(400, str(error)) from error
