"""Names, agent files and digests: what a person may write after `--agent`, and what identifies an agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from practicum.agents import registry
from practicum.agents.agent import Privileged
from practicum.agents.generalist.agent import Generalist
from practicum.agents.generalist.file import AgentUnavailable, Chat, endpoint
from practicum.agents.strict import BadFile

FILE = """
feet = "gui"
[brain]
kind = "chat"
model = "m"
[eyes]
kind = "marks"
keep = 2
[body]
kind = "react"
"""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-this-test")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("PRACTICUM_MODEL", raising=False)


def write(folder: Path, text: str, name: str = "mine.toml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", registry.names())
def test_every_name_resolves_to_a_sitter_of_that_name(name: str) -> None:
    sitter = registry.resolve(name)
    assert sitter.name == name
    assert len(sitter.digest) == 64
    assert registry.resolve(name).digest == sitter.digest


def test_only_people_of_the_house_are_briefed() -> None:
    assert isinstance(registry.resolve("oracle"), Privileged)
    for name in ("nop", "random", "generalist", "react"):
        assert not isinstance(registry.resolve(name), Privileged)


def test_an_unknown_name_names_its_neighbour() -> None:
    with pytest.raises(registry.UnknownAgent, match="did you mean 'generalist'"):
        registry.resolve("generalits")


def test_a_file_is_an_agent(tmp_path: Path) -> None:
    agent = registry.resolve(write(tmp_path, FILE))
    assert isinstance(agent, Generalist)
    assert agent.name == "mine"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("keep", "kepe"), "unknown key eyes.kepe; did you mean 'keep'"),
        (('kind = "marks"', 'kind = "mark"'), "did you mean 'marks'"),
        (('feet = "gui"', 'feet = "guy"'), "did you mean 'gui'"),
        (('feet = "gui"', 'hands = "anthropics"'), "did you mean 'anthropic'"),
        (('feet = "gui"', 'feed = "gui"'), "unknown key feed; did you mean 'feet'"),
        (("keep = 2", 'keep = "two"'), "int"),
        (('kind = "react"', "kind = "), "mine.toml"),
        (('[brain]\nkind = "chat"', '[brain]\nkind = "scripted"'), "unknown key brain.model"),
        (('kind = "chat"\nmodel = "m"', 'kind = "scripted"\nscript = "gone.jsonl"'), "gone.jsonl"),
        (('kind = "chat"\nmodel = "m"', 'kind = "recorded"\nrecord = "gone.jsonl"'), "gone.jsonl"),
        (('kind = "chat"\n', ""), "brain.kind is missing"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_one_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    assert change[0] in FILE
    with pytest.raises(BadFile) as caught:
        registry.resolve(write(tmp_path, FILE.replace(*change)))
    assert message in str(caught.value)
    assert "mine.toml" in str(caught.value) or "gone.jsonl" in str(caught.value)


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="No such file"):
        registry.resolve(str(tmp_path / "gone.toml"))


def test_the_digest_follows_all_that_decides_behaviour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layers, model, endpoint, script: each makes another agent. The key and the file's folder do not."""
    base = registry.resolve(write(tmp_path, FILE)).digest
    other = {registry.resolve(write(tmp_path, FILE.replace("keep = 2", "keep = 3"))).digest}
    other.add(registry.resolve(write(tmp_path, FILE.replace('"react"', '"deliberate"'))).digest)
    other.add(registry.resolve(write(tmp_path, FILE.replace('feet = "gui"', 'hands = "openai"'))).digest)
    monkeypatch.setenv("PRACTICUM_MODEL", "another")
    other.add(registry.resolve(write(tmp_path, FILE)).digest)
    monkeypatch.delenv("PRACTICUM_MODEL")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    other.add(registry.resolve(write(tmp_path, FILE)).digest)
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert len(other - {base}) == 5
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-secret")
    (tmp_path / "elsewhere").mkdir()
    assert registry.resolve(write(tmp_path / "elsewhere", FILE)).digest == base


def test_a_script_is_part_of_the_digest(tmp_path: Path) -> None:
    scripted = '[brain]\nkind = "scripted"\nscript = "s.jsonl"\n'
    digests = set()
    for text in ("one", "two"):
        (tmp_path / "s.jsonl").write_text(f'{{"text": "{text}"}}\n')
        digests.add(registry.resolve(write(tmp_path, scripted)).digest)
    assert len(digests) == 2


def test_without_a_key_the_agent_is_unavailable_unless_the_endpoint_is_one_s_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(AgentUnavailable, match="OPENAI_API_KEY"):
        registry.resolve("generalist")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert registry.resolve("generalist").name == "generalist"


def test_the_key_is_in_no_print_of_an_agent() -> None:
    agent = registry.resolve("generalist")
    assert "sk-secret" not in repr(agent)
    assert "sk-secret" not in repr(endpoint(Chat(model="m")))
