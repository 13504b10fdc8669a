"""Opening the viewer: a port of this machine's own, and the link that lets one person in."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address
from threading import Event

import uvicorn

from practicum.controller.errors import BadRequest
from practicum.controller.viewer.access import Keys
from practicum.controller.viewer.app import application
from practicum.controller.viewer.library import Library
from practicum.controller.viewer.live import LiveDesk


def serve(
    library: Library,
    host: str,
    port: int,
    announce: Callable[[str], None],
    live: LiveDesk | None = None,
) -> None:
    """Serve until interrupted, with a page on `live` when it is given.

    `announce` is given the link, token included, once the port is bound. Port 0 takes a free one.
    Raises `BadRequest` for a host that is not of this machine's loopback interface, and `OSError` where the
    port is taken.
    """
    if not ip_address(host).is_loopback:
        raise BadRequest(f"{host} is not a loopback address: forward a port over SSH instead")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        bound = listener.getsockname()[1]
        shown = f"[{host}]:{bound}" if ":" in host else f"{host}:{bound}"
        keys = Keys()
        announce(f"http://{shown}/enter#{keys.token}")
        Server.of(library, keys, frozenset({shown, f"localhost:{bound}"}), live).run(sockets=[listener])


class Server(uvicorn.Server):
    """Ends its streams before it waits for connections to close, so that an open page does not hold it."""

    closing: Event

    @classmethod
    def of(cls, library: Library, keys: Keys, hosts: frozenset[str], live: LiveDesk | None = None) -> Server:
        closing = Event()
        app = application(library, keys, hosts, closing, live)
        server = cls(uvicorn.Config(app, log_level="warning", access_log=False, ws="none"))
        server.closing = closing
        return server

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.closing.set()
        await super().shutdown(sockets)
