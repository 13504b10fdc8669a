"""A body that plans, notices when it is stuck, sums up what grows too long, and checks its work."""

from __future__ import annotations

from dataclasses import dataclass

from practicum.agents.agent import AssistantMessage, Exam, Text
from practicum.agents.generalist.body import manner
from practicum.agents.generalist.body.conversation import Conversation, Deed
from practicum.agents.generalist.body.history import Turn
from practicum.agents.generalist.body.stuck import Watch
from practicum.agents.generalist.layers import Finish, Layers

_RECENT = 3
"""Turns that a summary leaves as they are."""


@dataclass(frozen=True, slots=True)
class DeliberateBody:
    """`patience` bounds answers in a row without action, `nudges` how often it is told that it is stuck."""

    max_output: int = 4096
    patience: int = 8
    nudges: int = 3
    plan: bool = True
    check: bool = True

    def work(self, exam: Exam, layers: Layers) -> None:
        talk = Conversation.open(exam, layers, manner.WORK, self.max_output)
        if self.plan:
            self._plan(talk)
        state = _State(Watch())
        while True:
            self._compact(talk)
            deed = talk.carry_out(talk.ask())
            if deed.finish is not None:
                if self._over(talk, deed.finish, state):
                    return
            else:
                self._watch(talk, deed, state)

    def _plan(self, talk: Conversation) -> None:
        plan = talk.aside(manner.PLAN, "plan")
        talk.exam.note("body", f"plan: {plan}")
        if plan:
            talk.history.turns.append(Turn(AssistantMessage(plan), besides=(Text(manner.BEGIN),)))

    def _over(self, talk: Conversation, finish: Finish, state: _State) -> bool:
        """A first finish is answered with a fresh look and the request to check; a second one stands."""
        if not finish.success:
            talk.exam.give_up(finish.message)
        if not self.check or state.checked:
            return True
        state.checked = True
        talk.exam.note("body", "checks its work before it finishes")
        sight = talk.look() if talk.view is not None else ()
        talk.tell(Text(manner.CHECK), *sight)
        return False

    def _watch(self, talk: Conversation, deed: Deed, state: _State) -> None:
        state.idle = 0 if deed.done else state.idle + 1
        if state.idle >= self.patience:
            talk.exam.give_up(f"{state.idle} answers in a row without a readable action")
        if state.idle:
            talk.tell(Text(manner.NO_ACTION))
        for call, result in deed.done:
            state.watch.observe(call, result)
        cycle = state.watch.cycle()
        if cycle is None:
            return
        if state.nudged == self.nudges:
            talk.exam.give_up("stuck: the same actions on an unchanged screen, in spite of every hint")
        state.nudged += 1
        state.watch.reset()
        talk.exam.note("body", f"stuck in a cycle of {cycle}; hint {state.nudged} of {self.nudges}")
        talk.tell(Text(manner.STUCK))

    def _compact(self, talk: Conversation) -> None:
        turns = talk.history.turns
        count = len(turns) - _RECENT
        if count <= talk.history.summarised or not talk.overlong():
            return
        summary = talk.aside(manner.SUMMARISE, "compact")
        talk.exam.note("body", f"compacted {count} turns: {summary}")
        talk.history.summarise(count, summary)


@dataclass(slots=True)
class _State:
    watch: Watch
    idle: int = 0
    nudged: int = 0
    checked: bool = False
