"""A house of toys: small tasks on fake desks, and sitters of known skill, cost and misbehaviour.

It makes the whole machine testable without images or models: every kind of fault has a task or a sitter that
causes it, and a sweep of any size has a known truth. Try `practicum run near-term --agent oracle --desk fake
--house practicum.controller.toys:ToyHouse`.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from random import Random

from practicum.agents.agent import (
    Ending,
    Exam,
    ExamOver,
    ModelFault,
    Prompt,
    RawReply,
    Reply,
    Sitter,
    Text,
    Usage,
    UserMessage,
)
from practicum.agents.scripted import Nop, Oracle
from practicum.controller.errors import BadRequest
from practicum.infra.desk.desk import DeskProvider, DeskSpec, Label
from practicum.infra.desk.fake import FakeDesks, Script
from practicum.infra.desk.tools import Deliverable, DeskEnvironment, DeskTool
from practicum.infra.environment import Environment
from practicum.infra.errors import Stage
from practicum.infra.operator import Operator
from practicum.tasks.seeds import stream
from practicum.tasks.spec import (
    Benign,
    DeskNeeds,
    Instance,
    Kind,
    Limits,
    Mutant,
    Output,
    Params,
    Surface,
    Task,
    TaskSpec,
    Tier,
)
from practicum.verifiers.verdict import Verdict, check

ANSWER = "answer.txt"
PRICE_IN, PRICE_OUT = 1000, 4000
"""Nano-dollars per token that a toy model is worth when declared at 1 and 4 dollars a million."""


class Mood(StrEnum):
    """How a toy task misbehaves."""

    FINE = "fine"
    NO_INSTANCE = "no-instance"
    NO_DESK = "no-desk"
    LOST_DESK = "lost-desk"
    NO_VERDICT = "no-verdict"


@dataclass(frozen=True, slots=True)
class ToyTask:
    """Write a number that is told in the instruction."""

    spec: TaskSpec
    mood: Mood = Mood.FINE

    @property
    def verifier(self) -> str:
        name = "refuse" if self.mood is Mood.NO_VERDICT else "verify"
        return f"{__name__}:{name}"

    def instantiate(self, seed: int, folder: Path) -> Instance:
        if self.mood is Mood.NO_INSTANCE:
            raise RuntimeError("this toy cannot make an instance")
        inputs, reference = folder / "inputs", folder / "reference"
        inputs.mkdir(parents=True)
        reference.mkdir()
        number = stream(self.spec.id, seed).randrange(10**6)
        (reference / ANSWER).write_text(str(number))
        instruction = f"Write {number} into outputs/{ANSWER}."
        return Instance(self.spec, seed, instruction, {"number": number}, inputs, reference)

    @contextmanager
    def open(self, instance: Instance, desks: DeskProvider, label: Label) -> Iterator[Environment]:
        if self.mood is Mood.NO_DESK:
            desks = FakeDesks(script=Script(fail_at=Stage.DISPLAY))
        if self.mood is Mood.LOST_DESK:
            desks = FakeDesks(script=Script(lost_after=0))
        with desks.open(DeskSpec(image="toy", width=320, height=200), label) as desk:
            deliverable = Deliverable(PurePosixPath(ANSWER), 1024)
            yield DeskEnvironment(desk, frozenset(DeskTool), (deliverable,))

    def solve(self, hands: Operator, instance: Instance) -> None:
        hands.write_file(f"outputs/{ANSWER}", str(instance.params["number"]))

    def verify(self, outputs: Path, reference: Path, params: Params) -> Verdict:
        return verify(outputs, reference, params)

    def mutants(self, outputs: Path, params: Params) -> Iterable[Mutant]:
        def wrong(folder: Path) -> None:
            (folder / ANSWER).write_text(str(params["number"] + 1))

        return [Mutant("off by one", "number", wrong)]

    def benign(self, outputs: Path, params: Params) -> Iterable[Benign]:
        def newline(folder: Path) -> None:
            (folder / ANSWER).write_text(f"{params['number']}\n")

        return [Benign("trailing newline", newline)]


def verify(outputs: Path, reference: Path, params: Params) -> Verdict:
    del params
    answer = outputs / ANSWER
    found = answer.read_text().strip() if answer.is_file() else "nothing"
    expected = (reference / ANSWER).read_text()
    return Verdict((check("number", found == expected, expected=expected, found=found),))


def refuse(outputs: Path, reference: Path, params: Params) -> Verdict:
    raise RuntimeError(f"this toy cannot grade {outputs} by {reference} and {params}")


@dataclass(frozen=True, slots=True)
class ToyModel:
    """A model that answers nothing and is billed exactly.

    `bills` is the provider's own book: a file of lines, one integer each, in nano-dollars at the toy's price.
    """

    name: str = "toy-model"
    tokens_in: int = 1000
    tokens_out: int = 100
    bills: Path | None = None
    fails: bool = False

    def worst_case(self, prompt: Prompt) -> Usage:
        return Usage(input=self.tokens_in, output=prompt.max_output)

    def complete(self, prompt: Prompt, *, timeout: float) -> RawReply:
        del timeout
        if self.fails:
            raise ModelFault("connection", "the toy provider is down")
        if self.bills is not None:
            bill = self.tokens_in * PRICE_IN + self.tokens_out * PRICE_OUT
            with self.bills.open("a") as file:
                file.write(f"{bill}\n")
        return RawReply(Usage(input=self.tokens_in, output=self.tokens_out), {})

    def parse(self, raw: RawReply) -> Reply:
        del raw
        return Reply(text="as you like")


@dataclass(frozen=True, slots=True)
class ToySitter:
    """Asks its model `asks` times, then solves with probability `skill`, decided by the exam's seed."""

    name: str
    skill: float = 1.0
    asks: int = 0
    model: ToyModel = field(default_factory=ToyModel)
    behave: Callable[[Exam], None] | None = None

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()

    @property
    def models(self) -> tuple[str, ...]:
        return (self.model.name,) if self.asks else ()

    def sit(self, exam: Exam) -> None:
        if self.behave is not None:
            self.behave(exam)
            return
        for _ in range(self.asks):
            exam.ask(self.model, Prompt((UserMessage((Text(exam.instruction),)),), max_output=200))
        if Random(f"{self.name}/{exam.instruction}").random() < self.skill:
            number = exam.instruction.split()[1]
            Operator.over(exam.call).write_file(f"outputs/{ANSWER}", number)


def _die(exam: Exam) -> None:
    del exam
    os.kill(os.getpid(), signal.SIGKILL)


def _hang(exam: Exam) -> None:
    del exam
    signal.pause()


def _crash(exam: Exam) -> None:
    raise RuntimeError(f"this toy cannot sit for {exam.instruction}")


def _give_up(exam: Exam) -> None:
    exam.give_up("too hard for a toy")


def _look(exam: Exam) -> None:
    Operator.over(exam.call).screenshot()


def _look_for_ever(exam: Exam) -> None:
    hands = Operator.over(exam.call)
    while True:
        hands.screenshot()


def _dawdle(exam: Exam) -> None:
    hands = Operator.over(exam.call)
    while True:
        hands.bash("sleep 0.3")


def _be_deaf(exam: Exam) -> None:
    """Goes on when told that the exam is over, and says that it is done."""
    for _ in range(20):
        try:
            _look_for_ever(exam)
        except ExamOver:
            continue


def _refuse(exam: Exam) -> None:
    del exam
    raise ExamOver(Ending.REFUSED)


_BEHAVIOURS: Mapping[str, Callable[[Exam], None]] = {
    "die": _die,
    "hang": _hang,
    "crash": _crash,
    "give-up": _give_up,
    "look": _look,
    "look-for-ever": _look_for_ever,
    "dawdle": _dawdle,
    "deaf": _be_deaf,
    "refuse": _refuse,
}


class ToyHouse:
    """Tasks `toys/<tier>/<n>` and `toys/moods/<mood>`; sitters `oracle`, `nop`, behaviours by name,
    `skill:<p>` and `spender:<asks>[:<p>]`; fake desks only."""

    per_tier = 20

    @cached_property
    def tasks(self) -> Mapping[str, ToyTask]:
        plain = [_toy(f"toys/{tier}/{n}", tier, n) for tier in Tier for n in range(self.per_tier)]
        moods = [_toy(f"toys/moods/{mood}", Tier.NEAR_TERM, 0, mood) for mood in Mood]
        return {task.spec.id: task for task in [*plain, *moods]}

    def select(self, patterns: Sequence[str]) -> Sequence[ToyTask]:
        chosen = [
            task
            for name, task in self.tasks.items()
            if any(pattern in (name, task.spec.tier) or fnmatchcase(name, pattern) for pattern in patterns)
        ]
        if not chosen:
            raise BadRequest(f"no toy is called {', '.join(patterns)}")
        return chosen

    def name_of(self, task: Task) -> str:
        return task.spec.id

    def task(self, name: str) -> ToyTask:
        return self.tasks[name]

    def sitter(self, name: str) -> Sitter:
        if name in ("oracle", "nop"):
            return Oracle() if name == "oracle" else Nop()
        if name in _BEHAVIOURS:
            return ToySitter(name, behave=_BEHAVIOURS[name])
        word, *numbers = name.split(":")
        if word == "skill":
            return ToySitter(name, skill=float(numbers[0]))
        if word in ("spender", "unlucky"):
            bills = os.environ.get("PRACTICUM_TOY_BILLS")
            model = ToyModel(bills=Path(bills) if bills else None, fails=word == "unlucky")
            return ToySitter(name, float(numbers[1]) if numbers[1:] else 1.0, int(numbers[0]), model)
        raise BadRequest(f"no toy sits by the name {name!r}")

    def desks(self, kind: str) -> DeskProvider:
        if kind != "fake":
            raise BadRequest("toys are played with on fake desks only")
        return FakeDesks()


def _toy(name: str, tier: Tier, number: int, mood: Mood = Mood.FINE) -> ToyTask:
    spec = TaskSpec(
        id=name,
        kind=Kind.DESK,
        title=f"Toy {number}",
        tier=tier,
        cluster="toys",
        subdomain=f"toys-{number % 5}",
        soc="00-0000.00",
        limits=Limits(steps=10, seconds=60.0),
        outputs=(Output(ANSWER),),
        digest=hashlib.sha256(name.encode()).hexdigest(),
        desk=DeskNeeds(image="toy", surfaces=frozenset(Surface), width=320, height=200, memory=16),
    )
    return ToyTask(spec, mood)
