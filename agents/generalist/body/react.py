"""The simplest body: ask, act, look, until the model says it is done."""

from __future__ import annotations

from dataclasses import dataclass

from practicum.agents.agent import Exam, Text
from practicum.agents.generalist.body import manner
from practicum.agents.generalist.body.conversation import Conversation
from practicum.agents.generalist.layers import Layers


@dataclass(frozen=True, slots=True)
class ReactBody:
    """`patience` is how many answers in a row may contain no readable action."""

    max_output: int = 4096
    patience: int = 8

    def work(self, exam: Exam, layers: Layers) -> None:
        talk = Conversation.open(exam, layers, manner.WORK, self.max_output)
        idle = 0
        while True:
            deed = talk.carry_out(talk.ask())
            if deed.finish is not None:
                if not deed.finish.success:
                    exam.give_up(deed.finish.message)
                return
            idle = 0 if deed.done else idle + 1
            if idle >= self.patience:
                exam.give_up(f"{idle} answers in a row without a readable action")
            if idle:
                talk.tell(Text(manner.NO_ACTION))
