"""The tier of a task is a rule over what its oracle needed, not a feeling."""

from __future__ import annotations

from practicum.infra.environment import ToolCall
from practicum.tasks.spec import TaskSpec, Tier

NEAR_TERM_ACTIONS = 15
LAST_EXAM_ACTIONS = 60
LAST_EXAM_PARTS = 3
LAST_EXAM_SECONDS = 2 * 3600.0
LOOKING = frozenset({"screenshot", "elements", "wait"})
READING = frozenset({"read_file"})


def is_action(call: ToolCall) -> bool:
    """Whether a call does something; looking, reading and waiting do not count."""
    if call.name == "computer":
        return call.arguments.get("action") not in LOOKING
    return call.name not in READING


def tier_by_rule(spec: TaskSpec, actions: int) -> Tier:
    """*near-term*: one application and at most 15 oracle actions. *last-exam*: three or more deliverables
    or applications, or at least 60 actions, or a horizon of hours. *full-spectrum*: what lies between."""
    applications = len(spec.desk.software) if spec.desk else 1
    long = spec.limits.seconds is not None and spec.limits.seconds >= LAST_EXAM_SECONDS
    if max(applications, len(spec.outputs)) >= LAST_EXAM_PARTS or actions >= LAST_EXAM_ACTIONS or long:
        return Tier.LAST_EXAM
    if applications == 1 and actions <= NEAR_TERM_ACTIONS:
        return Tier.NEAR_TERM
    return Tier.FULL_SPECTRUM
