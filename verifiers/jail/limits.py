"""What one verification may use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Resource(StrEnum):
    """A thing that can run out while grading."""

    WALL_TIME = "wall time"
    CPU_TIME = "CPU time"
    MEMORY = "memory"
    FILE_SIZE = "file size"
    PROCESSES = "processes"
    NESTING = "nesting depth"
    VERDICT_SIZE = "verdict size"
    PROCESS = "process"
    """A native parser died of a signal."""


@dataclass(frozen=True, slots=True)
class JailLimits:
    """Bytes, seconds and counts. `memory` bounds each process's address space and the tree's resident set.

    `outputs_bytes`, `outputs_files` and `outputs_depth` bound what is looked at before anything is parsed.
    """

    wall_seconds: float = 120.0
    cpu_seconds: int = 90
    memory: int = 4 << 30
    scratch: int = 1 << 30
    file_size: int = 512 << 20
    open_files: int = 256
    processes: int = 64
    verdict_bytes: int = 64 << 20
    log_bytes: int = 64 << 10
    outputs_bytes: int = 512 << 20
    outputs_files: int = 10_000
    outputs_depth: int = 32
