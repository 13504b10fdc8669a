"""`python -m practicum.agents.serve SCRIPT`: serve the answers of a script file until interrupted."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from practicum.agents.generalist.brain.scripted import load_script
from practicum.agents.serve.server import ChatServer
from practicum.agents.strict import BadFile


def main(
    script: Annotated[Path, typer.Argument(help="one JSON answer a line")],
    port: Annotated[int, typer.Option(help="0 takes a free one")] = 0,
) -> None:
    """Serve the OpenAI chat completions API on the loopback interface, answering from a script."""
    console = Console()
    try:
        policy = load_script(script)
    except BadFile as error:
        console.print(f"[red]error[/red]: {error}")
        raise typer.Exit(1) from error
    with ChatServer(policy, port=port) as server:
        console.print(f"OPENAI_BASE_URL={server.url}")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            console.print(f"{server.requests} requests answered")


if __name__ == "__main__":
    typer.run(main)
