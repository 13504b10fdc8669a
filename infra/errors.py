"""What may go wrong below an agent, typed once.

    InfraError
    ├── OutputRefused      what the agent left may not be copied out: links, too large, too many files
    ├── Unsupported        asked for something this environment declares it cannot do
    ├── DeskFault          the machine failed; carries the stage, logs and the last frame
    │   └── DeskLost       it answered once and does no longer
    ├── WorldFault         a simulated workplace broke its own contract, or its simulator did not answer
    ├── EngineUnavailable  no Docker engine, no QEMU: nothing can be opened; carries the mending command
    └── ImageMissing       the image was never built

A command that fails inside a healthy machine is a `Completed` with an exit code, never one of these.
"""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """How far a desk had come when it failed."""

    CREATE = "create"
    START = "start"
    DISPLAY = "display"
    READY = "ready"
    STAGING = "staging"
    WORK = "work"
    COLLECT = "collect"
    CLOSE = "close"


class InfraError(Exception):
    """Root of everything below."""


class Unsupported(InfraError):
    """The environment cannot do what was asked, and says so instead of doing something else."""


class OutputRefused(InfraError):
    """An output breaks the rules for being copied out. The agent's doing, never a fault of ours."""


class DeskFault(InfraError):
    """The machine failed."""

    def __init__(self, stage: Stage, message: str, *, logs: str = "", frame: bytes | None = None) -> None:
        super().__init__(f"{stage}: {message}")
        self.stage = stage
        self.message = message
        self.logs = logs
        self.frame = frame


class DeskLost(DeskFault):
    """A desk that was ready stopped answering."""


class WorldFault(InfraError):
    """A world failed: a tool of ours crashed, or a model that plays it gave nothing valid."""


class EngineUnavailable(InfraError):
    """Nothing that could open a desk answers."""

    def __init__(self, message: str, *, mend: str) -> None:
        super().__init__(f"{message} (mend: {mend})")
        self.mend = mend


class ImageMissing(InfraError):
    """The named image is not built for its present recipe."""

    def __init__(self, image: str) -> None:
        super().__init__(f"image {image!r} is not built (mend: practicum image build {image})")
        self.image = image
