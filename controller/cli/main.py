"""Entry point of `practicum`: mounts the asked-for command and turns typed errors into one line."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence

import typer

from practicum import __version__
from practicum.controller.cli.commands import COMMANDS, EXPECTED_ERRORS, Row

DEBUG = "PRACTICUM_DEBUG"


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(argv: Sequence[str]) -> int:
    """Run one command line; returns its exit code: 0 well, 1 failed, 2 wrong usage, 130 interrupted."""
    arguments = [word for word in argv if word != "--debug"]
    debug = len(arguments) != len(argv) or bool(os.environ.get(DEBUG))
    try:
        application(arguments)(arguments, prog_name="practicum")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception as error:  # noqa: BLE001 - the outermost seam: nothing may reach the terminal unread
        return _explain(error, debug=debug)
    return 0


def application(argv: Sequence[str]) -> typer.Typer:
    """The command tree, with only the command named in `argv` really imported."""
    app = typer.Typer(
        name="practicum",
        help="A licensing exam for computer-use agents.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    asked = next((word for word in argv if not word.startswith("-")), None)
    for row in COMMANDS:
        _mount(app, row, real=row.name == asked)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=_version
    ),
    debug: bool = typer.Option(False, "--debug", help="Show a traceback on errors."),
) -> None:
    del version, debug  # `debug` is read before parsing, so that it also covers errors of the imports


def _mount(app: typer.Typer, row: Row, *, real: bool) -> None:
    if not real:
        app.command(row.name, help=row.help)(lambda: None)
        return
    module, _, attribute = row.target.partition(":")
    target = getattr(importlib.import_module(module), attribute)
    if isinstance(target, typer.Typer):
        app.add_typer(target, name=row.name, help=row.help)
    else:
        app.command(row.name, help=row.help)(target)


def _explain(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
        return 1
    line = " ".join(str(error).split()) or type(error).__name__
    if not _expected(error):
        line = f"unexpected {type(error).__name__}: {line} (see --debug)"
    typer.echo(f"practicum: {line}", err=True)
    return 1


def _expected(error: Exception) -> bool:
    """By name along the class tree, so that no room is imported only to be compared with."""
    return any(f"{kind.__module__}:{kind.__qualname__}" in EXPECTED_ERRORS for kind in type(error).__mro__)
