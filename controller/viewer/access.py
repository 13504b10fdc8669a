"""Who may look: a token in the URL's fragment, exchanged once for a cookie, on the loopback interface.

A fragment is never sent, so the token stays out of logs and referrers; the first page hands it over by POST.
Requests for another host name are refused, which is what defeats DNS rebinding.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "practicum_view"
OPEN_PATHS = ("/enter", "/static/")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)


@dataclass(frozen=True, slots=True)
class Keys:
    """The token that a person carries over and the session value it is exchanged for."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def opens(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def knows(self, session: str) -> bool:
        return hmac.compare_digest(session.encode(), self.session.encode())


async def exchange(request: Request, keys: Keys) -> Response:
    """The token for a session cookie; 403 for anything else."""
    form = await request.form()
    token = form.get("token")
    if not isinstance(token, str) or not keys.opens(token):
        return PlainTextResponse("This link is not valid for this viewer.", status_code=403)
    response = Response(status_code=204)
    response.set_cookie(COOKIE, keys.session, httponly=True, samesite="strict", path="/")
    return response


@dataclass(frozen=True, slots=True)
class Guard:
    """ASGI middleware: right host, right cookie, and the security headers on every answer."""

    app: ASGIApp
    keys: Keys
    hosts: frozenset[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        if Headers(scope=scope).get("host", "") not in self.hosts:
            await _refuse("unknown host", 421)(scope, receive, send)
            return
        allowed = request.url.path.startswith(OPEN_PATHS) or self.keys.knows(request.cookies.get(COOKIE, ""))
        if not allowed:
            await _refuse("open the link that `practicum view` printed", 403)(scope, receive, send)
            return
        await self.app(scope, receive, _hardened(send))


def _refuse(reason: str, status: int) -> Response:
    return PlainTextResponse(reason, status_code=status)


def _hardened(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
            headers["cross-origin-opener-policy"] = "same-origin"
            headers["cross-origin-resource-policy"] = "same-origin"
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return wrapped
