"""The server. It listens on the loopback interface only and keeps what it was asked, without the key."""

from __future__ import annotations

import hmac
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from practicum.agents.agent import ModelFault, Prompt, Reply, Usage
from practicum.agents.generalist.brain import estimate, wire
from practicum.agents.generalist.brain.scripted import Policy
from practicum.agents.generalist.limits import limits_of
from practicum.agents.serve.faults import Cut, Fault, Garbled, Slow, Status

MAX_REQUEST = 64 << 20
COMPLETIONS = "/v1/chat/completions"
MODELS = "/v1/models"

Count = Callable[[Prompt, Reply], Usage]
"""What the server says that an answer used."""


def count_bytes(prompt: Prompt, reply: Reply) -> Usage:
    """A token for every four bytes of text, and for pictures what an unknown model may take at most."""
    said = reply.text + reply.thought + "".join(map(str, reply.calls))
    weight = estimate.load(prompt, limits_of("served"))
    return Usage(input=weight.tokens(4.0), output=len(said.encode("utf-8", "surrogatepass")) // 4 + 1)


@dataclass(slots=True)
class ChatServer(AbstractContextManager["ChatServer"]):
    """Serves while its `with` block runs. `faults` befall the first requests in order, `None` sparing one;
    `key` unset lets everybody in. `prompts` are those the policy was asked."""

    policy: Policy
    faults: deque[Fault | None] = field(default_factory=deque)
    key: str | None = field(default=None, repr=False)
    count: Count = count_bytes
    port: int = 0
    prompts: list[Prompt] = field(default_factory=list)
    requests: int = 0
    billed: list[Usage] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _server: ThreadingHTTPServer | None = None
    _thread: threading.Thread | None = None

    @classmethod
    def scripted(cls, policy: Policy, faults: Iterable[Fault | None] = (), **settings: Any) -> ChatServer:
        return cls(policy, deque(faults), **settings)

    @property
    def url(self) -> str:
        """The base URL for a client."""
        if self._server is None:
            raise RuntimeError("the server is not running: use it as a `with` block")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        handler = type("_BoundHandler", (_Handler,), {"server_of": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def next_fault(self) -> Fault | None:
        with self._lock:
            self.requests += 1
            return self.faults.popleft() if self.faults else None

    def answer(self, prompt: Prompt, model: str) -> bytes:
        """The body of a completion, billed from now on. One policy answers one request at a time."""
        with self._lock:
            self.prompts.append(prompt)
            reply = self.policy(prompt)
            usage = self.count(prompt, reply)
            self.billed.append(usage)
        return json.dumps(wire.completion(reply, usage, model)).encode()

    def admits(self, authorization: str) -> bool:
        return self.key is None or hmac.compare_digest(authorization, f"Bearer {self.key}")

    def pause(self, seconds: float) -> bool:
        """Wait, unless the server stops first; True then."""
        return self._stopping.wait(seconds)


class _Handler(BaseHTTPRequestHandler):
    """One connection. Protocol errors are answered in the API's own error format."""

    server_of: ChatServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: what was asked is in `ChatServer.prompts`."""

    def do_GET(self) -> None:
        if self.path == MODELS:
            listed = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
            self._send(HTTPStatus.OK, json.dumps(listed).encode())
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"no such path {self.path}")

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), MAX_REQUEST))
        owner = self.server_of
        if self.path != COMPLETIONS:
            self._refuse(HTTPStatus.NOT_FOUND, f"no such path {self.path}")
        elif not owner.admits(self.headers.get("Authorization", "")):
            self._refuse(HTTPStatus.UNAUTHORIZED, "wrong API key", code="invalid_api_key")
        else:
            self._complete(body, owner.next_fault())

    def _complete(self, body: bytes, fault: Fault | None) -> None:
        if isinstance(fault, Status):
            self._refuse(HTTPStatus(fault.code), fault.error, headers=dict(fault.headers))
            return
        if isinstance(fault, Cut) and fault.before_status:
            self.close_connection = True
            return
        try:
            request = json.loads(body)
            answer = self.server_of.answer(wire.read_request(request), str(request.get("model")))
        except (ValueError, ModelFault) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        match fault:
            case Garbled(garbage):
                self._send(HTTPStatus.OK, garbage)
            case Cut():
                self._send(HTTPStatus.OK, answer[: len(answer) // 2], length=len(answer))
                self.close_connection = True
            case Slow():
                self._trickle(answer, fault)
            case _:
                self._send(HTTPStatus.OK, answer)

    def _trickle(self, answer: bytes, slow: Slow) -> None:
        self._head(HTTPStatus.OK, len(answer), {})
        size = -(-len(answer) // slow.pieces)
        for start in range(0, len(answer), size):
            if self.server_of.pause(slow.pause):
                break
            try:
                self.wfile.write(answer[start : start + size])
                self.wfile.flush()
            except OSError:
                break
        self.close_connection = True

    def _refuse(
        self, status: HTTPStatus, message: str, *, code: str = "", headers: dict[str, str] | None = None
    ) -> None:
        error = {"error": {"message": message, "type": "server", "code": code or None}}
        self._send(status, json.dumps(error).encode(), headers=headers)

    def _send(
        self,
        status: HTTPStatus,
        body: bytes,
        *,
        length: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self._head(status, len(body) if length is None else length, headers or {})
        try:
            self.wfile.write(body)
            self.wfile.flush()
        except OSError:
            self.close_connection = True

    def _head(self, status: HTTPStatus, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
