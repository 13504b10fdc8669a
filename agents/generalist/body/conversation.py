"""What every body does the same way: open the exam, ask, carry out what was asked for, look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from practicum.agents.agent import (
    AssistantMessage,
    Ending,
    Exam,
    ExamOver,
    Prompt,
    Reply,
    Text,
    ToolMessage,
    UserMessage,
)
from practicum.agents.generalist.body.history import ContextFull, History, Turn
from practicum.agents.generalist.layers import Act, Finish, Intent, Layers, Mistake, Part, Wish
from practicum.agents.generalist.view import View
from practicum.infra.desk.actions import Point
from practicum.infra.desk.desk import Frame
from practicum.infra.environment import Tool, ToolCall, ToolErrorKind, ToolResult

LONGEST_RESULT = 20_000
"""Characters of a tool's answer that a model is shown; the middle is left out."""
EMPTY = "(nothing)"
SKIPPED = "Not carried out, because of the mistake before it."


_Granted = tuple[str | None, list[tuple[Intent, ToolResult | None]]]
"""The call that waits for an answer, if any, and each intent with its result, if it was carried out."""


@dataclass(frozen=True, slots=True)
class Deed:
    """What became of one answer: calls with their results, mistakes in it, and whether it said to finish."""

    done: tuple[tuple[ToolCall, ToolResult], ...]
    mistakes: tuple[Mistake, ...]
    finish: Finish | None


@dataclass(slots=True)
class Conversation:
    """One exam, as the body talks it through with the brain."""

    exam: Exam
    layers: Layers
    tools: tuple[Tool, ...]
    history: History
    max_output: int
    view: View | None = None
    frame: Frame | None = None
    pointer: Point | None = None
    _used_ids: set[str] = field(default_factory=set)

    @classmethod
    def open(cls, exam: Exam, layers: Layers, manner: str, max_output: int) -> Conversation:
        """With a first look at the screen where there is one. Gives up where no tool is left to stand on."""
        tools = layers.feet.tools(exam.tools)
        if not tools:
            exam.give_up("none of the offered tools may be used by this agent")
        talk = cls(exam, layers, tools, History("", ()), max_output)
        sight = talk.look() if any(tool.name == "computer" for tool in tools) else ()
        talk.history = History(talk._system(manner), (Text(exam.instruction), *sight))
        return talk

    def look(self) -> tuple[Part, ...]:
        """A fresh screenshot, as parts to show."""
        result = self._touch(ToolCall(self._fresh("look"), "computer", {"action": "screenshot"}))
        return self._see(result.frames[-1]) if result.frames else (Text(_describe(result)),)

    def ask(self) -> Reply:
        """The brain's next answer. Raises `ExamOver(REFUSED)` where it refuses."""
        tools = self.layers.hands.offer(self.tools, self.view)
        return self._answer(self._prompt(tools), "agent")

    def aside(self, request: str, purpose: str) -> str:
        """A text from the brain on the conversation so far, which leaves no trace in it.

        Tools are declared only where the conversation has calls already: some endpoints insist on it.
        """
        called = any(turn.said.calls for turn in self.history.turns)
        tools = self.layers.hands.offer(self.tools, self.view) if called else ()
        message = UserMessage((Text(request),))
        return self._answer(self._prompt(tools, message), purpose).text.strip()

    def carry_out(self, reply: Reply) -> Deed:
        """Do what the reply asks for, in order, up to its first mistake, and remember it as a turn."""
        reply = replace(reply, calls=tuple(replace(call, id=self._fresh(call.id)) for call in reply.calls))
        wishes = self.layers.hands.read(reply, self.view)
        outcomes = list(self._grant(wishes))
        sight = self._sight(outcomes)
        results, besides = _report(outcomes, sight)
        asked = tuple(call for call in reply.calls if any(each.call_id == call.id for each in results))
        self.history.turns.append(
            Turn(AssistantMessage(reply.text or ("" if asked else EMPTY), asked), results, besides)
        )
        intents = [(intent, result) for _, granted in outcomes for intent, result in granted]
        return Deed(
            tuple((i.call, result) for i, result in intents if isinstance(i, Act) and result is not None),
            tuple(intent for intent, _ in intents if isinstance(intent, Mistake)),
            next((intent for intent, _ in intents if isinstance(intent, Finish)), None),
        )

    def tell(self, *parts: Part) -> None:
        """Say something to the model after the last turn."""
        last = self.history.turns[-1]
        self.history.turns[-1] = replace(last, besides=(*last.besides, *parts))

    def overlong(self) -> bool:
        tools = self.layers.hands.offer(self.tools, self.view)
        return self.history.overlong(tools, self.layers.limits, self.layers.eyes.keep, self.max_output)

    def _prompt(self, tools: Sequence[Tool], request: UserMessage | None = None) -> Prompt:
        limits, keep = self.layers.limits, self.layers.eyes.keep
        try:
            return self.history.prompt(tools, limits, keep, self.max_output, request=request)
        except ContextFull as error:
            self.exam.give_up(str(error))
            raise

    def _answer(self, prompt: Prompt, purpose: str) -> Reply:
        reply = self.exam.ask(self.layers.brain, prompt, purpose=purpose)
        if reply.refused:
            raise ExamOver(Ending.REFUSED, reply.text)
        return reply

    def _system(self, manner: str) -> str:
        guides = [manner, self.layers.hands.guide(self.tools)]
        if self.view is not None:
            guides.append(self.layers.eyes.guide(self.view))
        return "\n\n".join(guide for guide in guides if guide)

    def _grant(self, wishes: Iterable[Wish]) -> Iterable[_Granted]:
        halted = False
        for wish in wishes:
            granted: list[tuple[Intent, ToolResult | None]] = []
            for intent in wish.intents:
                halted = halted or isinstance(intent, Mistake)
                if isinstance(intent, Act) and not halted:
                    call = intent.call if wish.answers else self._renamed(intent.call)
                    granted.append((Act(call), self._touch(call)))
                else:
                    granted.append((intent, None))
            yield wish.answers, granted

    def _touch(self, call: ToolCall) -> ToolResult:
        """The call, if the agent may make it."""
        if call.name not in {tool.name for tool in self.tools}:
            known = ", ".join(tool.name for tool in self.tools)
            return ToolResult(f"no tool {call.name!r}; there are: {known}", error=ToolErrorKind.UNKNOWN_TOOL)
        result = self.exam.call(call)
        if call.name == "computer" and result.error is None:
            self.pointer = _pointed(call) or self.pointer
        return result

    def _sight(self, outcomes: Iterable[_Granted]) -> tuple[Part, ...]:
        """The newest frame of all results: the only one a next action can be meant for."""
        frames = [f for _, granted in outcomes for _, result in granted if result for f in result.frames]
        return self._see(frames[-1]) if frames else ()

    def _see(self, frame: Frame) -> tuple[Part, ...]:
        sight = self.layers.eyes.see(frame, lambda call: self._touch(self._renamed(call)))
        self.view, self.frame = replace(sight.view, pointer=self.pointer), frame
        return sight.parts

    def _renamed(self, call: ToolCall) -> ToolCall:
        return replace(call, id=self._fresh(call.id))

    def _fresh(self, call_id: str) -> str:
        unique, n = call_id, 1
        while unique in self._used_ids:
            n += 1
            unique = f"{call_id}~{n}"
        self._used_ids.add(unique)
        return unique


def _report(
    outcomes: Sequence[_Granted], sight: tuple[Part, ...]
) -> tuple[tuple[ToolMessage, ...], tuple[Part, ...]]:
    """A result for every call that waits for one; all else, and the newest sight, is said besides."""
    results: list[ToolMessage] = []
    besides: list[Part] = []
    for answers, granted in outcomes:
        parts = tuple(Text(_outcome(intent, result)) for intent, result in granted)
        if answers is None:
            besides.extend(parts)
        else:
            results.append(ToolMessage(answers, parts))
    return tuple(results), (*besides, *sight)


def _outcome(intent: Intent, result: ToolResult | None) -> str:
    match intent:
        case Mistake(span, reason):
            return f"This could not be read: {reason}. It was: {span!r}"
        case Finish():
            return "Noted."
        case Act():
            return SKIPPED if result is None else _describe(result)


def _describe(result: ToolResult) -> str:
    text = result.text if len(result.text) <= LONGEST_RESULT else _cut(result.text)
    return f"Error ({result.error}): {text}" if result.error else text or "Done."


def _cut(text: str) -> str:
    half = LONGEST_RESULT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def _pointed(call: ToolCall) -> Point | None:
    """Where a call that was carried out left the pointer."""
    match call.arguments:
        case {"x": int(x), "y": int(y)} | {"path": [*_, [int(x), int(y)]]}:
            return Point(x, y)
        case _:
            return None
