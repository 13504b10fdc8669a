"""Every shipped scenario keeps what a scenario promises."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import jsonschema
import pytest

from practicum.agents.policies import wander
from practicum.infra.environment import ToolCall
from practicum.infra.faults.inject import FaultyEnvironment
from practicum.infra.faults.operations import Access, Operation
from practicum.infra.faults.plan import FaultSpec, Level, PlannedFault, Strike, draw
from practicum.tasks.spec import Kind
from practicum.tasks.worlds import library, sets
from practicum.tasks.worlds.catalog import catalog
from practicum.tasks.worlds.check import check
from practicum.tasks.worlds.scenario import Industry
from practicum.tasks.worlds.trialrun import situation

NAMES = library.names()


def test_there_are_two_scenarios_for_each_industry() -> None:
    counts = Counter(scenario.industry for scenario in library.scenarios().values())
    assert counts == dict.fromkeys(Industry, 2)


@pytest.mark.parametrize("name", NAMES)
def test_the_authoring_gate_passes(name: str) -> None:
    """Determinism, oracle clean and under drawn faults, near misses for their reason, nop, replay."""
    findings = check(library.scenario(name), (0, 977))
    assert not [finding for finding in findings if not finding.passed]


@pytest.mark.parametrize("name", NAMES)
def test_it_ships_what_an_author_must_ship(name: str) -> None:
    scenario = library.scenario(name)
    assert len(scenario.near_misses) >= 3
    assert scenario.difficulty in (1, 2, 3)
    assert scenario.trap
    assert scenario.evidence
    for tool in scenario.rules.menu:
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert tool.description.strip().endswith((".", "}"))
        for argument in tool.parameters.get("properties", {}).values():
            assert argument.get("description"), (tool.name, argument)


@pytest.mark.parametrize("name", NAMES)
def test_valid_but_senseless_calls_never_crash_a_tool_and_never_pass(name: str) -> None:
    """A tool that raises anything but a refusal would be counted as our fault."""
    scenario = library.scenario(name)
    for seed in range(4):
        with situation(scenario, seed) as it:
            done = it.work(lambda call, seed=seed: wander(scenario.rules.menu, call, seed, 60))
            assert not done.verdict.passed


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_meets_every_drawn_fault_and_comes_through(name: str) -> None:
    scenario = library.scenario(name)
    with situation(scenario, 5) as it:
        for level in ("E1", "E2", "E3"):
            done = it.plan(level)
            planned = draw(FaultSpec.parse(level), it.operations, f"{scenario.id}/5")
            assert done.verdict.passed, done.verdict.failures()
            assert (done.faults.planned, done.faults.met, done.faults.harmed) == (
                len(planned),
                len(planned),
                0,
            )


def test_the_public_set_is_four_hundred_fixed_questions() -> None:
    public = sets.public()
    assert sum(len(seeds) for seeds in public.values()) == 400
    assert set(public) <= set(catalog())


def test_names_of_tools_tell_the_scenarios_apart() -> None:
    menus = [tuple(sorted(tool.name for tool in s.rules.menu)) for s in library.scenarios().values()]
    assert len(set(menus)) == len(menus)


@pytest.mark.parametrize("name", ["transport/last_mile", "public/customs"])
def test_a_world_is_a_task_like_any_other(name: str, tmp_path: Path) -> None:
    """Equal seeds give equal bytes; the reference holds the canary and the inputs hold nothing."""
    task = catalog()[f"worlds/{name}"]
    assert task.spec.kind is Kind.WORLD
    first = task.instantiate(3, tmp_path / "a")
    second = task.instantiate(3, tmp_path / "b")
    assert (first.instruction, first.params) == (second.instruction, second.params)
    for path in first.reference.iterdir():
        assert path.read_bytes() == (second.reference / path.name).read_bytes()
    assert not list(first.inputs.iterdir())
    assert "canary" in (first.reference / "CANARY.txt").read_text()


def test_benign_rewritings_pass_and_mutants_fail_for_their_reason(tmp_path: Path) -> None:
    task = catalog()["worlds/public/dispatch"]
    instance = task.instantiate(1, tmp_path / "instance")
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    world = task.scenario.open(task.scenario.setup(1))
    task.scenario.work(world.call, instance.params["facts"])
    world.collect(outputs)
    for benign in task.benign(outputs, instance.params):
        benign.apply(outputs)
        assert task.verify(outputs, instance.reference, instance.params).passed, benign.name
    for mutant in task.mutants(outputs, instance.params):
        mutant.apply(outputs)
        verdict = task.verify(outputs, instance.reference, instance.params)
        assert mutant.fails in verdict.failures(), mutant.name


def test_what_is_left_cannot_be_edited_into_a_pass(tmp_path: Path) -> None:
    """State, journal and answer must tell one story that begins at the reference."""
    task = catalog()["worlds/public/dispatch"]
    instance = task.instantiate(1, tmp_path / "instance")
    world = task.scenario.open(task.scenario.setup(1))
    task.scenario.work(world.call, instance.params["facts"])

    def left(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        world.collect(folder)
        return folder

    def gate(folder: Path) -> tuple[float, tuple[str, ...]]:
        verdict = task.verify(folder, instance.reference, instance.params)
        return verdict.score, verdict.failures()

    state = left("state")
    edited = json.loads((state / "state.json").read_bytes())
    edited["tables"]["Crew"][0]["busy"] ^= True
    (state / "state.json").write_text(json.dumps(edited))
    lines = left("journal")
    kept = (lines / "journal.jsonl").read_bytes().splitlines()
    (lines / "journal.jsonl").write_bytes(b"\n".join(line for line in kept if b'"send"' not in line))
    answer = left("answer")
    (answer / "answer.json").unlink()
    garbage = left("garbage")
    (garbage / "journal.jsonl").write_bytes(b"\xff\xfe{")
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder in (state, lines, answer, garbage, empty):
        assert gate(folder) == (0.0, ("record",)), folder.name


EXTREMES = {
    "integer": [0, -1, 10**12, 2**63 - 1],
    "number": [0.0, -1.5, 1e308, 5e-324],
    "string": ["", "\x00", "x" * 5000, "'; drop table"],
    "boolean": [True, False],
    "array": [[], [""] * 50],
}


@pytest.mark.parametrize("name", NAMES)
def test_extreme_arguments_are_answered_and_never_crash_a_tool(name: str) -> None:
    """Every argument of every tool at its extremes, beside ids that exist where it takes an id."""
    scenario = library.scenario(name)
    setup = scenario.setup(0)
    known = sorted({row.id for row in setup.rows})
    for tool in scenario.rules.menu:
        properties = tool.parameters.get("properties", {})
        choices = [
            schema["enum"] if "enum" in schema else [*EXTREMES[schema["type"]], *_ids(schema, known)]
            for schema in properties.values()
        ]
        rng = Random(f"{name}/{tool.name}")
        for _ in range(120):
            world = scenario.open(setup)
            arguments = {key: rng.choice(values) for key, values in zip(properties, choices, strict=True)}
            world.call(ToolCall("1", tool.name, arguments))


def _ids(schema: dict[str, object], known: list[str]) -> list[str]:
    return known * 2 if schema["type"] == "string" else []


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_comes_through_every_single_fault_there_can_be(name: str) -> None:
    """Each operation it needs × each way to strike it × first and last attempt, twice in a row."""
    scenario = library.scenario(name)
    with situation(scenario, 0) as it:
        for fault in _single_faults(it.operations):
            world = scenario.open(it.setup)
            faulty = FaultyEnvironment(world, FaultSpec(Level.E3), (fault,), world.access)
            assert scenario.work(faulty.call, it.setup.facts) is None, fault
            assert it.grade(world).passed, fault


def _single_faults(operations: tuple[Operation, ...]) -> Iterator[PlannedFault]:
    for operation in operations:
        for strike in Strike:
            on_reads_only = not strike.explicit
            on_writes_only = strike.takes_effect
            reads = operation.access is Access.READ
            if (on_reads_only and not reads) or (on_writes_only and reads):
                continue
            for attempt in sorted({1, operation.attempts}):
                yield PlannedFault(operation.tool, operation.index, attempt, 2, strike, 3 << 8 | 1)
