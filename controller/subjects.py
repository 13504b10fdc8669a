"""The simulators that can be audited, by the word a person writes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from practicum.agents.agent import Meter
from practicum.controller.audit import Subject, executable
from practicum.controller.errors import BadRequest
from practicum.controller.lent import WORLD, Count, Lent, endpoint
from practicum.infra.environment import Environment
from practicum.infra.world.backends.chat import Chat
from practicum.infra.world.backends.language import Language
from practicum.infra.world.backends.ledger import Ledger
from practicum.infra.world.differences import Kind
from practicum.infra.world.engine import WorldEnvironment
from practicum.infra.world.planted import Planted
from practicum.tasks.worlds.scenario import Scenario, Setup

BASE_URL, API_KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
WORDS = "executable, planted or planted:RATE, language, ledger"


@dataclass(slots=True)
class Faulty:
    """Opens worlds with differences planted at one rate, and keeps them for a comparison afterwards."""

    rate: float
    made: list[Planted] = field(default_factory=list)

    def __call__(self, scenario: Scenario, setup: Setup, seed: int) -> Environment:
        name = f"{scenario.id}/{seed}/{len(self.made)}"
        self.made.append(Planted(scenario.open(setup), dict.fromkeys(Kind, self.rate), name))
        return self.made[-1]


@dataclass(frozen=True, slots=True)
class Played:
    """Opens worlds that a model plays; `owned` leaves the state to the engine."""

    chat: Chat
    owned: bool
    attempts: int = 3

    def __call__(self, scenario: Scenario, setup: Setup, seed: int) -> Environment:
        del seed
        true = scenario.open(setup)
        tables = true.snapshot()["tables"]
        backend = (
            Ledger(scenario.rules, self.chat, attempts=self.attempts)
            if self.owned
            else Language(scenario.rules, tables, self.chat, attempts=self.attempts)
        )
        return WorldEnvironment(scenario.rules, scenario.rules.load(tables), backend=backend)


def subject(word: str, *, model: str, constrained: bool, max_output: int, meter: Count) -> Subject:
    """Raises `BadRequest` for a word that is no simulator, or a model without an endpoint."""
    name, _, rate = word.partition(":")
    if name == "executable" and not rate:
        return executable
    if name == "planted":
        return Faulty(_rate(rate or "0.05"))
    if name in ("language", "ledger") and not rate:
        return Played(lend(model, meter, constrained=constrained, max_output=max_output), name == "ledger")
    raise BadRequest(f"no simulator {word!r}; there are {WORDS}")


def lend(model: str, meter: Meter, *, constrained: bool, max_output: int, purpose: str = WORLD) -> Lent:
    """The model at the endpoint that the environment names. Raises `BadRequest` without one."""
    base_url = os.environ.get(BASE_URL)
    key = os.environ.get(API_KEY) or ("none" if base_url else "")
    if not model or not key:
        raise BadRequest(f"name a model with --model, and its endpoint in {BASE_URL} or a key in {API_KEY}")
    brain = endpoint(model, base_url, key)
    return Lent(brain, meter, purpose, constrained, max_output)


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError as error:
        raise BadRequest(f"{text!r} is not a rate") from error
    if not 0 <= rate <= 1:
        raise BadRequest(f"a rate is between 0 and 1, not {rate}")
    return rate
