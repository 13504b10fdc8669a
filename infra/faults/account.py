"""What became of the planned faults of a trial: met, noticed, recovered from, or harmful."""

from __future__ import annotations

from dataclasses import dataclass

from practicum.infra.faults.inject import FaultLog, Meeting
from practicum.infra.faults.operations import Access


@dataclass(frozen=True, slots=True)
class FaultAccount:
    """Counts over one trial, or summed over many.

    *Met*: it struck a call. *Noticed*: the operation was attempted again, or a struck write was followed
    by a read. *Recovered*: the operation was answered cleanly later, or a write that had taken effect was
    looked after and not repeated. *Harmed*: met, not recovered, and the trial did not pass.
    """

    planned: int = 0
    met: int = 0
    noticed: int = 0
    recovered: int = 0
    harmed: int = 0

    def __add__(self, other: FaultAccount) -> FaultAccount:
        return FaultAccount(
            self.planned + other.planned,
            self.met + other.met,
            self.noticed + other.noticed,
            self.recovered + other.recovered,
            self.harmed + other.harmed,
        )


def account(log: FaultLog, *, passed: bool) -> FaultAccount:
    total = FaultAccount(planned=len(log.planned))
    for number in range(len(log.planned)):
        total += _one(log.calls, number, passed)
    return total


def _one(calls: tuple[Meeting, ...], number: int, passed: bool) -> FaultAccount:
    struck = [at for at, call in enumerate(calls) if call.fault == number]
    if not struck:
        return FaultAccount()
    first, last = calls[struck[0]], calls[struck[-1]]
    again = [call for call in calls[struck[0] + 1 :] if _same(call, first)]
    after = calls[struck[-1] + 1 :]
    looked = first.access is Access.WRITE and bool(after) and after[0].access is Access.READ
    noticed = bool(again) or looked
    clean = any(_same(call, first) and call.error is None and call.fault is None for call in after)
    stands = last.strike is not None and last.strike.takes_effect and looked
    recovered = clean or stands
    return FaultAccount(
        met=1, noticed=int(noticed), recovered=int(recovered), harmed=int(not recovered and not passed)
    )


def _same(call: Meeting, other: Meeting) -> bool:
    return (call.tool, call.operation) == (other.tool, other.operation)
