"""What a trial adds to an environment that its task opened: a paid model where one plays it, and faults."""

from __future__ import annotations

from practicum.agents.agent import Meter
from practicum.controller.outcome import Trial
from practicum.controller.played import Wanted
from practicum.infra.environment import Environment
from practicum.infra.faults.inject import inject
from practicum.infra.world.backends.ledger import Ledger
from practicum.infra.world.engine import WorldEnvironment


def furnish(environment: Environment, trial: Trial, meter: Meter) -> Environment:
    """Faults are drawn from task and seed, so that every agent meets the same ones."""
    if isinstance(environment, WorldEnvironment) and isinstance(environment.backend, Ledger):
        chat = environment.backend.chat
        if isinstance(chat, Wanted):
            environment.backend.chat = chat.paid_by(meter)
    task, _, _ = trial.task.partition("@")
    return inject(environment, trial.faults, f"{task}/{trial.seed}")
