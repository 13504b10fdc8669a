"""`practicum verify KIND CANDIDATE REFERENCE`: grade one file against another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from practicum.verifiers import registry
from practicum.verifiers.errors import VerifierError
from practicum.verifiers.verdict import Check, Role, Verdict

PASS, FAIL, CANNOT_TELL = 0, 1, 2


def verify(  # noqa: PLR0917 - typer calls by position what it shows by name
    kind: Annotated[str, typer.Argument(help="A family of verifiers, such as mesh, tables or image.")],
    candidate: Annotated[Path, typer.Argument(help="The file to grade.")],
    reference: Annotated[Path, typer.Argument(help="What it should be.")],
    spec: Annotated[Path | None, typer.Option(help="Tolerances and facts, TOML or JSON.")] = None,
    before: Annotated[
        Path | None, typer.Option(help="The file before the work; what it already scores earns nothing.")
    ] = None,
    evidence: Annotated[Path | None, typer.Option(help="A folder for the verdict's pictures.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Grade one file against another: exit code 0 passes, 1 fails, 2 cannot tell."""
    try:
        family = registry.family(kind)
        verdict = family.run(candidate, reference, registry.load_spec(family, spec) if spec else None, before)
    except (VerifierError, OSError) as error:
        typer.echo(f"cannot tell: {error}", err=True)
        raise typer.Exit(CANNOT_TELL) from error
    if evidence is not None:
        _save(verdict.checks, evidence)
    if as_json:
        typer.echo(_json(verdict))
    else:
        Console(highlight=False).print(tree(verdict, candidate.name))
    raise typer.Exit(PASS if verdict.passed else FAIL)


def _json(verdict: Verdict) -> str:
    whole = {"passed": verdict.passed, "score": verdict.score, "failures": verdict.failures()}
    return msgspec.json.encode(whole | {"checks": msgspec.Raw(msgspec.json.encode(verdict.checks))}).decode()


def tree(verdict: Verdict, title: str) -> Tree:
    """The verdict as a person reads it: a mark, a name, what was found, and why it failed."""
    head = "[green]pass[/]" if verdict.passed else "[red]fail[/]"
    root = Tree(f"{head}  {escape(title)}  score {verdict.score:.3f}")
    for item in verdict.checks:
        _branch(root, item)
    return root


def _branch(parent: Tree, item: Check) -> None:
    mark = "[green]✓[/]" if item.passed else "[red]✗[/]"
    role = f" [dim]({item.role})[/]" if item.role is not Role.REQUIRED else ""
    partial = f" [yellow]{item.score:.3f}[/]" if not item.passed and item.score > 0.0 else ""
    told = item.found if item.passed else (item.reason if not item.children else "")
    branch = parent.add(f"{mark} [bold]{escape(item.name)}[/]{role}{partial}  {escape(told)}")
    for child in item.children:
        _branch(branch, child)


def _save(checks: tuple[Check, ...], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for item in checks:
        for piece in item.evidence:
            (folder / Path(piece.name).name).write_bytes(piece.data)
        _save(item.children, folder)
