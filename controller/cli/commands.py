"""The table of commands: a name, where it lives, and its line of help.

`target` is `module:attribute`; a `typer.Typer` there becomes a group, a function a command. Modules are
imported only when their command is called, so that `practicum --help` stays fast.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    target: str
    help: str


_CLI = "practicum.controller.cli"

COMMANDS: tuple[Row, ...] = (
    Row("doctor", f"{_CLI}.doctor:doctor", "Say what this machine lacks, and the command that mends it."),
    Row("image", f"{_CLI}.image:app", "List, build, show and check desk images."),
    Row("tasks", f"{_CLI}.tasks:app", "List and show tasks."),
    Row("check", f"{_CLI}.check:check", "Put a task through the authoring gate."),
    Row("plan", f"{_CLI}.plan:plan", "Price a run before it starts."),
    Row("run", f"{_CLI}.run:run", "Sit agents at tasks and grade what they leave."),
    Row("watch", f"{_CLI}.watch:watch", "Follow a run from another terminal."),
    Row("report", f"{_CLI}.report:report", "Read a run: rates, intervals, costs, comparisons."),
    Row("regrade", f"{_CLI}.regrade:regrade", "Grade recorded outputs again, without any agent."),
    Row("export", f"{_CLI}.export:export", "Write trajectories as ATIF."),
    Row("prices", f"{_CLI}.prices:app", "Show and override the price table."),
    Row("desk", f"{_CLI}.desk:app", "Open, list and reap desks."),
    Row("worlds", f"{_CLI}.worlds:app", "List scenarios, climb the ladder, account for faults."),
    Row("audit", f"{_CLI}.audit:audit_command", "Compare a simulator of worlds with the true ones."),
    Row("agree", f"{_CLI}.agree:agree", "Tell whether runs rank agents alike."),
    Row("import", f"{_CLI}.imports:app", "Bring tasks of other benchmarks in as language worlds."),
    Row("verify", f"{_CLI}.verify:verify", "Grade one file against another with a verifier."),
    Row("view", f"{_CLI}.view:view", "Look at a run in the browser."),
)

EXPECTED_ERRORS = frozenset(
    {
        "practicum.controller.errors:ControllerError",
        "practicum.infra.errors:InfraError",
        "practicum.infra.operator:ToolFailed",
        "practicum.agents.agent:ModelFault",
        "practicum.agents.registry:UnknownAgent",
        "practicum.agents.generalist.file:AgentUnavailable",
        "practicum.agents.strict:BadFile",
        "practicum.tasks.errors:TaskError",
        "practicum.verifiers.errors:VerifierError",
        "practicum.vm_images.errors:ImageError",
        "builtins:OSError",
    }
)
"""Roots of the error trees whose message is meant for the person at the terminal."""
