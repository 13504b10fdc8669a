"""The authoring gate of simulated workplaces, whose demands live beside them, in the words of this report."""

from __future__ import annotations

import time

from practicum.controller.check import Finding, Gate, Report
from practicum.tasks.spec import Task
from practicum.tasks.worlds.catalog import WorldTask
from practicum.tasks.worlds.check import check


def on_world(task: Task, seed: int) -> Report:
    """Every demand on one seed. Raises `TypeError` for what is no world."""
    if not isinstance(task, WorldTask):
        raise TypeError(f"{task.spec.id} is no world")
    begun = time.monotonic()
    findings = tuple(
        Finding(
            task=task.spec.id,
            gate=_gate(found.demand),
            seed=seed,
            passed=found.passed,
            subject=found.demand,
            detail="; ".join(found.broken),
        )
        for found in check(task.scenario, (seed,))
    )
    return Report(task.spec.id, findings, seconds=time.monotonic() - begun)


_GATES = {
    "generation": Gate.GENERATION,
    "the brief": Gate.LINT,
    "doing nothing": Gate.NOP,
    "near miss": Gate.MUTANTS,
}


def _gate(demand: str) -> Gate:
    """Demands are named by us, so their first words may be told apart; all others are the oracle's."""
    return next((gate for words, gate in _GATES.items() if demand.startswith(words)), Gate.ORACLE)
