"""Grade outputs with a verifier that runs apart, and decide whose failure a failure is.

| what happened inside                                     | what it becomes                                |
|----------------------------------------------------------|------------------------------------------------|
| a verdict                                                | that verdict                                   |
| outputs with links, devices, too many or too large files | 0, gate `plain outputs` (nothing is parsed)    |
| `Unreadable` about a file of the outputs                 | 0, gate `readable outputs`                     |
| `Unreadable` about the reference, a missing extra, a bug | `VerifierFault`                                |
| time, memory, file size, nesting or a native parser's end| see below                                      |

Exhaustion is decided by experiment: the same verifier grades an *empty* outputs folder under the same
limits. If that too gives no verdict, the verifier or its reference is at fault. If it does, only the outputs
can have made the difference, and they score 0 with gate `within limits`: an agent cannot trade a bad score
for a Fault by handing in a bomb. One exception: wall time that ran out while the processor idled is a
starved machine or a hung helper, and always a Fault. An exception of ours is a Fault even where only
these outputs provoke it: the outputs are kept, so mending the verifier and grading again gives a score.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from practicum.verifiers.errors import VerifierFault
from practicum.verifiers.jail import cell
from practicum.verifiers.jail.limits import JailLimits, Resource
from practicum.verifiers.jail.preflight import objection
from practicum.verifiers.jail.protocol import (
    OUTPUTS,
    READY,
    Crashed,
    Exhausted,
    Graded,
    Refused,
    Report,
    Request,
)
from practicum.verifiers.verdict import Verdict, check

_BY_SIGNAL = {"SIGXCPU": Resource.CPU_TIME, "SIGXFSZ": Resource.FILE_SIZE}


def grade(
    target: str,
    outputs: Path,
    reference: Path,
    params: Mapping[str, Any],
    *,
    limits: JailLimits | None = None,
    search_path: tuple[Path, ...] = (),
) -> Verdict:
    """Run `target` ("module:function", signature `verify(outputs, reference, params)`) in the jail.

    `search_path` are folders readable and importable inside, for tasks that live outside the package.

    Raises `VerifierFault` when the verifier itself failed and `JailUnavailable` when no jail can be built.
    """
    limits = limits or JailLimits()
    if problem := objection(outputs, limits):
        return _zero("plain outputs", "plain files and folders within bounds", problem)
    attempt = _Attempt(target, reference, dict(params), limits, search_path)
    report, logs = attempt.on(outputs)
    match report:
        case Graded(verdict):
            return verdict
        case Refused(path, reason) if Path(path).is_relative_to(OUTPUTS):
            return _zero(
                "readable outputs", "a readable file", f"{Path(path).relative_to(OUTPUTS)}: {reason}"
            )
        case Refused(path, reason):
            raise VerifierFault(f"{target}: {path}: {reason}", logs=logs)
        case Crashed(error, traceback):
            raise VerifierFault(f"{target}: {error}", logs=f"{traceback}\n{logs}".strip())
        case Exhausted(resource, detail):
            return attempt.blame(resource, detail, logs)


def _zero(name: str, expected: str, found: str) -> Verdict:
    return Verdict((check(name, False, expected=expected, found=found, reason=found).as_gate(),))


class _Attempt:
    def __init__(
        self,
        target: str,
        reference: Path,
        params: dict[str, Any],
        limits: JailLimits,
        search_path: tuple[Path, ...],
    ) -> None:
        paths = tuple(str(path.resolve()) for path in search_path)
        self._request = Request(target=target, params=params, search_path=paths, limits=limits)
        self._reference = reference
        self._search_path = search_path

    def on(self, outputs: Path) -> tuple[Report, str]:
        request = self._request
        ended = cell.run(request, outputs, self._reference, request.limits, self._search_path)
        if ended.idle:
            raise VerifierFault(
                f"{request.target}: no verdict in {request.limits.wall_seconds:g} s, processor idle",
                logs=ended.logs,
            )
        return self._report(ended), ended.logs

    def blame(self, resource: Resource, detail: str, logs: str) -> Verdict:
        with tempfile.TemporaryDirectory(prefix="practicum-control-") as empty:
            control, _ = self.on(Path(empty))
        what = f"{resource} ran out while grading" + (f": {detail}" if detail else "")
        if isinstance(control, Graded):
            return _zero("within limits", "outputs that can be graded within the limits", what)
        raise VerifierFault(f"{self._request.target}: {what}, with empty outputs too", logs=logs)

    @staticmethod
    def _report(ended: cell.Ended) -> Report:
        if ended.cut is not None:
            return Exhausted(ended.cut, "")
        body = ended.report.removeprefix(READY)
        if body:
            try:
                return msgspec.json.decode(body, type=Report)
            except msgspec.MsgspecError as error:
                return Crashed(f"unreadable report: {error}", "")
        if name := cell.signal_name(ended.status):
            return Exhausted(_BY_SIGNAL.get(name, Resource.PROCESS), f"killed by {name}")
        return Crashed(f"ended with status {ended.status} and no report", "")
