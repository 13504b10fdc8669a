"""Fault injection around any environment: the agent meets the planned faults, the log keeps clean answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from practicum.infra.environment import Environment, Tool, ToolCall, ToolErrorKind, ToolResult
from practicum.infra.faults.degrade import degrade
from practicum.infra.faults.operations import Access, Faultable, desk_access, desk_operations, identity
from practicum.infra.faults.plan import FaultSpec, Level, PlannedFault, Strike, draw

LOG = "faults.json"

_ERRORS = {
    Strike.SERVER_ERROR: (ToolErrorKind.FAILED, "500 internal server error"),
    Strike.SERVER_ERROR_AFTER: (ToolErrorKind.FAILED, "500 internal server error"),
    Strike.TIMEOUT: (ToolErrorKind.TIMEOUT, "504 no answer in time; it is not known whether it took effect"),
    Strike.TIMEOUT_AFTER: (
        ToolErrorKind.TIMEOUT,
        "504 no answer in time; it is not known whether it took effect",
    ),
    Strike.REFUSED: (ToolErrorKind.UNAVAILABLE, "connection refused; try again later"),
}


class Meeting(msgspec.Struct, frozen=True):
    """One call under fault injection. `fault` numbers the planned fault that struck it, if one did; `clean`
    is then the answer the agent should have had (`None` when the call never reached the environment)."""

    tool: str
    operation: str
    access: Access
    error: ToolErrorKind | None
    fault: int | None = None
    strike: Strike | None = None
    witness: str = ""
    shown: str = ""
    clean: str | None = None


class FaultLog(msgspec.Struct, frozen=True):
    """What was planned and every call there was, in order."""

    spec: str
    planned: tuple[PlannedFault, ...]
    calls: tuple[Meeting, ...]


class FaultyEnvironment:
    """An environment that fails as planned."""

    def __init__(
        self,
        inner: Environment,
        spec: FaultSpec,
        planned: tuple[PlannedFault, ...],
        access: Callable[[str], Access],
    ) -> None:
        self.planned = planned
        self._inner = inner
        self._spec = spec
        self._access = access
        self._attempts: Counter[tuple[str, str]] = Counter()
        self._order: dict[str, dict[str, int]] = {}
        self._earlier: dict[tuple[str, str], ToolResult] = {}
        self._meetings: list[Meeting] = []

    def tools(self) -> tuple[Tool, ...]:
        return self._inner.tools()

    def call(self, call: ToolCall) -> ToolResult:
        operation = identity(call)
        order = self._order.setdefault(call.name, {})
        index = order.setdefault(operation, len(order) + 1)
        self._attempts[call.name, operation] += 1
        attempt = self._attempts[call.name, operation]
        for number, fault in enumerate(self.planned):
            if fault.strikes(call.name, index, attempt):
                if fault.strike.explicit:
                    return self._fail(call, number)
                return self._mislead(call, operation, number)
        result = self._inner.call(call)
        self._earlier[call.name, operation] = result
        self._note(call, result)
        return result

    def _fail(self, call: ToolCall, number: int) -> ToolResult:
        strike = self.planned[number].strike
        clean = self._inner.call(call) if strike.takes_effect else None
        kind, text = _ERRORS[strike]
        result = ToolResult(text=text, error=kind)
        self._note(call, result, fault=number, strike=strike, witness="the error itself", clean=clean)
        return result

    def _mislead(self, call: ToolCall, operation: str, number: int) -> ToolResult:
        fault = self.planned[number]
        clean = self._inner.call(call)
        earlier = self._earlier.get((call.name, operation))
        worse = None if clean.error else degrade(clean, fault.strike, fault.salt, earlier)
        if worse is None:
            self._note(call, clean)
            return clean
        self._note(call, worse.result, fault=number, strike=worse.strike, witness=worse.witness, clean=clean)
        return worse.result

    def _note(
        self,
        call: ToolCall,
        shown: ToolResult,
        *,
        fault: int | None = None,
        strike: Strike | None = None,
        witness: str = "",
        clean: ToolResult | None = None,
    ) -> None:
        self._meetings.append(
            Meeting(
                tool=call.name,
                operation=identity(call),
                access=self._access(call.name),
                error=shown.error,
                fault=fault,
                strike=strike,
                witness=witness,
                shown="" if fault is None else shown.text,
                clean=None if clean is None else clean.text,
            )
        )

    def log(self) -> FaultLog:
        return FaultLog(str(self._spec), self.planned, tuple(self._meetings))

    def collect(self, into: Path) -> tuple[str, ...]:
        left_out = self._inner.collect(into)
        (into / LOG).write_bytes(msgspec.json.encode(self.log()))
        return left_out


def inject(environment: Environment, faults: str, seed: str) -> Environment:
    """The environment under the faults of a level such as `E2` or `E2x3x1`, drawn from `seed`, which names
    the instance; E0 leaves it as it is. Raises `ValueError` for a level that is none."""
    spec = FaultSpec.parse(faults)
    if spec.level is Level.E0:
        return environment
    if isinstance(environment, Faultable):
        planned = draw(spec, environment.operations(), seed)
        return FaultyEnvironment(environment, spec, planned, environment.access)
    planned = draw(spec, desk_operations(frozenset(tool.name for tool in environment.tools())), seed)
    return FaultyEnvironment(environment, spec, planned, desk_access)
