"""What an unattended installation is told, as data: the machine, its account, its drivers and programs."""

from __future__ import annotations

import secrets
import string
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

_LETTERS = string.ascii_letters + string.digits
PASSWORD_LENGTH = 20


class Release(StrEnum):
    """Editions of the virtio driver medium, by the name of their folders there."""

    WINDOWS_10 = "w10"
    WINDOWS_11 = "w11"
    SERVER_2022 = "2k22"
    SERVER_2025 = "2k25"


DRIVERS = ("viostor", "vioscsi", "vioserial", "vioinput", "Balloon", "viorng", "NetKVM")
"""Folders of the driver medium in the order of loading: without the disk's, nothing else is ever read."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to install from a file of the user's: `arguments` make its installer ask nothing."""

    file: Path
    arguments: tuple[str, ...] = ()


def new_password() -> str:
    """It guards nothing but the rule that an account which logs on by itself must have one."""
    return "".join(secrets.choice(_LETTERS) for _ in range(PASSWORD_LENGTH)) + "a1A"


@dataclass(frozen=True, slots=True)
class Setup:
    """One machine. `edition` is the image's name on the medium, `product_key` the user's own licence."""

    release: Release = Release.WINDOWS_11
    edition: str = "Windows 11 Pro"
    product_key: str = ""
    language: str = "en-US"
    keyboard: str = "0409:00000409"
    timezone: str = "UTC"
    computer: str = "DESK"
    account: str = "agent"
    password: str = field(default_factory=new_password, repr=False)
    width: int = 1280
    height: int = 800
    scale: int = 100
    programs: tuple[Program, ...] = ()
