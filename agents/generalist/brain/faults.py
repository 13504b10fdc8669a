"""One seam around the `openai` client and its HTTP library: their errors become `ModelFault`."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

import httpx2
import openai

from practicum.agents.agent import ModelFault

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


class FaultKind(StrEnum):
    """Why a model endpoint failed."""

    NETWORK = "network"
    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    SERVER = "server"
    CREDENTIALS = "credentials"
    BAD_REQUEST = "bad_request"
    BAD_REPLY = "bad_reply"
    NOT_RECORDED = "not_recorded"
    SCRIPT_OVER = "script_over"


class Retryable(Exception):
    """An attempt that failed without being billed and may succeed later; `fault` if it does not.

    `after` is the number of seconds the endpoint asked to be left alone, `None` where it did not ask.
    """

    def __init__(self, fault: ModelFault, after: float | None) -> None:
        super().__init__(str(fault))
        self.fault = fault
        self.after = after


@contextmanager
def typed_faults() -> Iterator[None]:
    """Raises `Retryable` or `ModelFault` for whatever the client raises inside."""
    try:
        yield
    except openai.APIStatusError as error:
        raise _status(error) from error
    except openai.APIConnectionError as error:
        raise _connection(error.__cause__ or error) from error
    except openai.OpenAIError as error:
        raise ModelFault(FaultKind.BAD_REPLY, str(error), maybe_billed=True) from error
    except httpx2.HTTPError as error:
        raise _connection(error) from error


def _status(error: openai.APIStatusError) -> Exception:
    code = error.status_code
    message = f"HTTP {code}: {error.message[:500]}"
    if error.code in _QUOTA:
        return ModelFault(FaultKind.QUOTA, message)
    if code in _RETRIED or code >= 500:
        kind = FaultKind.RATE_LIMIT if code == 429 else FaultKind.SERVER
        return Retryable(ModelFault(kind, message), retry_after(error.response.headers, time.time()))
    if code in {401, 403}:
        return ModelFault(FaultKind.CREDENTIALS, message)
    return ModelFault(FaultKind.BAD_REQUEST, message)


def _connection(cause: BaseException) -> Exception:
    kind = FaultKind.TIMEOUT if isinstance(cause, httpx2.TimeoutException) else FaultKind.NETWORK
    message = f"{type(cause).__name__}: {cause}"
    if isinstance(cause, _UNSENT):
        return Retryable(ModelFault(kind, message), None)
    return ModelFault(kind, message, maybe_billed=True)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after` (seconds or an HTTP date); `None` if neither is
    there or readable. `now` is seconds since the epoch."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers[name]) / scale)
        except (KeyError, ValueError):
            continue
    try:
        return max(0.0, email.utils.parsedate_to_datetime(headers["retry-after"]).timestamp() - now)
    except (KeyError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often and how patiently an unbilled failure is tried again; seconds."""

    attempts: int = 5
    first: float = 1.0
    longest: float = 30.0

    def delay(self, attempt: int, asked: float | None, jitter: float) -> float:
        """Seconds before the attempt after `attempt` (from 1): what was asked, or exponential, halved to full
        by `jitter` in [0, 1)."""
        if asked is not None:
            return asked
        ceiling = min(self.longest, self.first * 2.0 ** (attempt - 1))
        return ceiling * (0.5 + 0.5 * jitter)
