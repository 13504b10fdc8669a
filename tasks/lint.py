"""What can be seen to be wrong with a desk task without grading anything: each finding is one line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from practicum.infra.desk.tools import OUTPUTS
from practicum.tasks.canary import planted
from practicum.tasks.desk_task import DeskTask
from practicum.tasks.readable import input_files, plain, text_of
from practicum.tasks.spec import Instance

STEPS = range(10, 1001)
SECONDS = (60.0, 6 * 3600.0)
MAX_OUTPUT_BYTES = 512 << 20
SOC = re.compile(r"\d{2}-\d{4}(\.\d{2})?")
UNIT = re.compile(
    r"\b(mm|cm|metres?|millimetres?|inch(es)?|pixels?|px|pt|euros?|€|dollars?|cents?|packs?|seconds?|minutes?"
    r"|hours?|days?|Hz|dB|LUFS|%|degrees?|kg|grams?|litres?|volts?|amperes?|ohms?|bytes?)(?!\w)"
)
_NUMBER = re.compile(r"\d")


def lint(task: DeskTask, instance: Instance) -> tuple[str, ...]:
    """Findings about the task as written and about this instance of it; none is well."""
    return (*_limits(task), *_files(task, instance), *_facts(task, instance), *_answers(task, instance))


def readable_text(task: DeskTask, instance: Instance) -> str:
    """Everything an agent can read, flattened."""
    shown = task.functions.shown(instance.params) if task.functions.shown else ""
    inputs = [text_of(path) for path in input_files(instance.inputs)]
    return plain("\n".join([instance.instruction, shown, *inputs]))


def _limits(task: DeskTask) -> Iterable[str]:
    limits = task.spec.limits
    if limits.steps not in STEPS:
        yield f"limits.steps {limits.steps} is outside {STEPS.start}–{STEPS.stop - 1}"
    if limits.seconds is None or not SECONDS[0] <= limits.seconds <= SECONDS[1]:
        yield f"limits.seconds {limits.seconds} is outside {SECONDS[0]:g}–{SECONDS[1]:g}"
    if sum(output.max_bytes for output in task.spec.outputs) > MAX_OUTPUT_BYTES:
        yield f"the outputs may together have more than {MAX_OUTPUT_BYTES} bytes"
    if not SOC.fullmatch(task.spec.soc):
        yield f"soc {task.spec.soc!r} is not an O*NET/SOC code such as 17-2141"


def _files(task: DeskTask, instance: Instance) -> Iterable[str]:
    text = readable_text(task, instance)
    for output in task.spec.outputs:
        if output.source:
            continue
        if f"{OUTPUTS}/{output.path}" not in instance.instruction:
            yield f"the instruction does not name {OUTPUTS}/{output.path}"
        suffix = output.path.rpartition(".")[2]
        without_path = instance.instruction.replace(output.path, "")
        if "." in output.path and not re.search(rf"\b{suffix}", without_path, re.IGNORECASE):
            yield f"the instruction does not say that {output.path} is {suffix.upper()}"
    for path in input_files(instance.inputs):
        if path.name not in text:
            yield f"no text names the input {path.name}"
    for name, folder in (("inputs", instance.inputs), ("reference", instance.reference)):
        if not planted(task.spec.id, folder):
            yield f"no canary in the {name}"


def _facts(task: DeskTask, instance: Instance) -> Iterable[str]:
    text = readable_text(task, instance)
    facts = task.functions.facts(instance.params)
    if not facts:
        yield "facts() names nothing that is graded"
    for name, words in facts.items():
        if plain(words) not in text:
            yield f"the graded fact {name!r} ({words!r}) stands nowhere an agent can read"
    if any(_NUMBER.search(words) for words in facts.values()) and not UNIT.search(text):
        yield "numbers are graded and no unit is named"


def _answers(task: DeskTask, instance: Instance) -> Iterable[str]:
    if task.functions.secrets is None:
        return
    shown = task.functions.shown(instance.params) if task.functions.shown else ""
    for secret in task.functions.secrets(instance.params):
        if secret in instance.instruction or secret in shown:
            yield "an answer stands in the text that is shown"
        for path in input_files(instance.inputs):
            if secret.encode() in path.read_bytes() or secret in text_of(path):
                yield f"an answer stands in {path.name}"
