"""What every confined process sees of this machine: programs and libraries, read-only, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

MEND = "apt-get install bubblewrap"
SEAL = ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp")
"""Last arguments: nothing more can be written but the scratch folder."""

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_CONFIGURATION = (
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/libreoffice",
    "/var/cache/fontconfig",
    "/var/lib/libreoffice",
)


def base(environment: Mapping[str, str]) -> list[str]:
    """bubblewrap arguments: own namespaces of every kind, no capabilities, a clean environment, `/usr`."""
    argv = ["--unshare-user", "--unshare-all", "--uid", "65534", "--gid", "65534"]
    argv += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    for name, value in environment.items():
        argv += ["--setenv", name, value]
    argv += ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            argv += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            argv += ["--ro-bind", name, name]
    for name in _CONFIGURATION:
        argv += ["--ro-bind-try", name, name]
    return [*argv, "--dev", "/dev"]
