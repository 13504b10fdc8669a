"""Trajectories as ATIF, the Agent Trajectory Interchange Format (version 1.7), for other people's tools.

One agent step is one model call with the tool calls that followed it; tool calls nobody asked a model for are
deterministic steps (`llm_call_count` 0). Frames are image parts that point at the attempt's own files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from practicum import __version__
from practicum.agents.agent import Usage
from practicum.controller.outcome import Result, Scored
from practicum.controller.prices import NANO
from practicum.controller.records import InstanceRecord, ModelRecord, NoteRecord, StepRecord, ToolRecord
from practicum.controller.store import Attempt

VERSION = "ATIF-v1.7"


@dataclass(slots=True)
class _Turn:
    """One model call, or none, and the tools called before the next."""

    model: ModelRecord | None
    tools: list[ToolRecord]


def trajectory(attempt: Attempt) -> dict[str, Any]:
    """The attempt as one ATIF document; paths of frames are relative to the attempt's folder."""
    result, instance = attempt.result(), attempt.instance()
    steps = list(attempt.steps())
    turns = [_user_step(instance)] if instance else []
    turns += [_agent_step(turn) for turn in _turns(steps)]
    for number, step in enumerate(turns, 1):
        step["step_id"] = number
    return {
        "schema_version": VERSION,
        "session_id": f"{result.trial.id}/{attempt.number}",
        "agent": _agent(result, instance, steps),
        "steps": turns,
        "final_metrics": _final_metrics(steps, len(turns)),
        "extra": {
            "outcome": _outcome(result),
            "notes": [_note(s) for s in steps if isinstance(s, NoteRecord)],
        },
    }


def _turns(steps: Iterable[StepRecord]) -> list[_Turn]:
    turns: list[_Turn] = []
    for step in steps:
        if isinstance(step, ModelRecord):
            turns.append(_Turn(step, []))
        elif isinstance(step, ToolRecord):
            if not turns or (turns[-1].model is None and turns[-1].tools):
                turns.append(_Turn(None, []))
            turns[-1].tools.append(step)
    return turns


def _user_step(instance: InstanceRecord) -> dict[str, Any]:
    return {"source": "user", "message": instance.instruction}


def _agent_step(turn: _Turn) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": "", "llm_call_count": 0}
    if turn.model is not None:
        step |= _model_part(turn.model)
    if turn.tools:
        step |= {
            "tool_calls": [_call(tool, turn) for tool in turn.tools],
            "observation": {"results": [_result(tool, turn) for tool in turn.tools]},
        }
        step.setdefault("timestamp", turn.tools[0].at)
    return step


def _model_part(model: ModelRecord) -> dict[str, Any]:
    part = {
        "timestamp": model.at,
        "model_name": model.model,
        "message": model.reply.text,
        "metrics": _metrics(model),
        "llm_call_count": 1,
        "extra": {"purpose": model.purpose, "seconds": model.seconds},
    }
    return part | ({"reasoning_content": model.reply.thought} if model.reply.thought else {})


def _metrics(model: ModelRecord) -> dict[str, Any]:
    usage, cost = model.usage, model.cost
    metrics: dict[str, Any] = {
        "prompt_tokens": _prompt_tokens(usage),
        "completion_tokens": usage.output,
        "cached_tokens": usage.cache_read,
        "cost_usd": None if cost is None else cost / NANO,
    }
    return {key: value for key, value in metrics.items() if value is not None}


def _prompt_tokens(usage: Usage) -> int | None:
    """All that went in; ours are disjoint buckets, here the cached ones are a part."""
    parts = (usage.input, usage.cache_read, usage.cache_write, usage.cache_write_long)
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _call(tool: ToolRecord, turn: _Turn) -> dict[str, Any]:
    return {
        "tool_call_id": _call_id(tool, turn),
        "function_name": tool.call.name,
        "arguments": dict(tool.call.arguments),
        "extra": {"seconds": tool.seconds},
    }


def _result(tool: ToolRecord, turn: _Turn) -> dict[str, Any]:
    parts: list[dict[str, Any]] = (
        [{"type": "text", "text": tool.text}] if tool.text or not tool.frames else []
    )
    parts += [
        {"type": "image", "source": {"media_type": "image/png", "path": f"frames/{frame.sha256}.png"}}
        for frame in tool.frames
    ]
    extra = {"extra": {"error": str(tool.error)}} if tool.error else {}
    return {"source_call_id": _call_id(tool, turn), "content": parts} | extra


def _call_id(tool: ToolRecord, turn: _Turn) -> str:
    """A model may use one id twice in a turn; here each is unique."""
    same = [other for other in turn.tools if other.call.id == tool.call.id]
    return tool.call.id if len(same) == 1 else f"{tool.call.id}#{tool.n}"


def _agent(result: Result, instance: InstanceRecord | None, steps: Sequence[StepRecord]) -> dict[str, Any]:
    models = [step.model for step in steps if isinstance(step, ModelRecord)]
    agent: dict[str, Any] = {
        "name": result.trial.agent,
        "version": result.trial.agent_digest,
        "extra": {"practicum": __version__},
    }
    if models:
        agent["model_name"] = models[0]
    if instance is not None:
        agent["tool_definitions"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in instance.tools
        ]
    return agent


def _final_metrics(steps: Sequence[StepRecord], count: int) -> dict[str, Any]:
    asks = [_metrics(step) for step in steps if isinstance(step, ModelRecord)]
    totals = {
        f"total_{key}": sum(ask[key] for ask in asks)
        for key in ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")
        if all(key in ask for ask in asks)
    }
    return {**totals, "total_steps": count}


def _outcome(result: Result) -> dict[str, Any]:
    trial = {"task": result.trial.task, "seed": result.trial.seed}
    if isinstance(result.outcome, Scored):
        verdict = result.outcome.verdict
        return {**trial, "score": verdict.score, "passed": verdict.passed, "ending": result.outcome.ending}
    return {**trial, "score": None}


def _note(note: NoteRecord) -> dict[str, str]:
    return {"at": note.at, "layer": note.layer, "text": note.text}
