"""The layer under every image: Debian, pulled where a registry answers, else bootstrapped from the mirror
that this machine's own apt uses.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import getproxies

from practicum.vm_images.engine import Engine, Lines, StepFailed
from practicum.vm_images.errors import NoMirror

SUITE = "bookworm"
REGISTRY_TAG = f"{SUITE}-slim"
BOOTSTRAPPED = "practicum/bootstrapped"
CA_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
KEYRINGS = (
    (Path("/usr/share/keyrings"), "debian-archive-*"),
    (Path("/etc/apt/keyrings"), "*"),
    (Path("/etc/apt/trusted.gpg.d"), "*"),
)
_INDEX = "$(LABEL)\t$(REPO_URI)"
_KEPT_OPTIONS = ("Acquire::Check-Valid-Until", "Acquire::Check-Date", "Acquire::Retries")


@dataclass(frozen=True, slots=True)
class Mirror:
    """Where Debian comes from here; `security` is empty where apt knows no security archive."""

    archive: str
    security: str = ""

    def sources(self) -> str:
        """As an apt sources file in deb822 style, trusting every keyring in `trusted.gpg.d`."""
        stanzas = [_stanza(self.archive, f"{SUITE} {SUITE}-updates")]
        if self.security:
            stanzas.append(_stanza(self.security, f"{SUITE}-security"))
        return "\n".join(stanzas)


def host_mirror() -> Mirror | None:
    """The Debian mirror of this machine's apt, told by what the mirrors say of themselves; None on a machine
    whose apt knows none (not Debian, or its lists were never fetched)."""
    if not shutil.which("apt-get"):
        return None
    listed = _output("apt-get", "indextargets", "--format", _INDEX, "Created-By: Packages")
    archives = dict(line.split("\t", 1) for line in listed.splitlines() if "\thttp" in line)
    if "Debian" not in archives:
        return None
    return Mirror(archives["Debian"], archives.get("Debian-Security", ""))


def apt_files(mirror: Mirror | None) -> Iterator[tuple[str, bytes]]:
    """What the image's apt needs to use the same mirror, as (path in the build context, content)."""
    yield "apt/apt.conf.d/90host", _options(mirror).encode()
    if mirror is None:
        return
    yield "apt/sources.list.d/host.sources", mirror.sources().encode()
    for path in _keyrings():
        yield f"apt/trusted.gpg.d/{path.name}", path.read_bytes()
    if mirror.archive.startswith("https") and CA_BUNDLE.is_file():
        yield "apt/host-ca.crt", CA_BUNDLE.read_bytes()


def proxies() -> Mapping[str, str]:
    """Build arguments that the engine treats as predefined, so that they leave no trace in the image."""
    found = {f"{scheme}_proxy": value for scheme, value in getproxies().items()}
    own = _output("apt-config", "dump", "--format", "%v", "Acquire::http::Proxy") if _has_apt() else ""
    return {"http_proxy": own, **found} if own else found


def provide(engine: Engine, mirror: Mirror | None, lines: Lines) -> str:
    """The tag of a bare Debian. Raises `NoMirror` or `StepFailed`."""
    wanted, bootstrapped = f"debian:{REGISTRY_TAG}", f"{BOOTSTRAPPED}:{SUITE}"
    for present in (wanted, bootstrapped):
        if engine.find(present):
            return present
    lines(f"pulling {wanted}")
    if engine.pull("debian", REGISTRY_TAG):
        return wanted
    if mirror is None:
        raise NoMirror(
            f"{wanted} cannot be pulled, and this machine's apt lists no Debian mirror to bootstrap from "
            "(mend: apt-get update on Debian; elsewhere let the engine reach a registry)"
        )
    _bootstrap(engine, mirror, lines)
    return bootstrapped


def _bootstrap(engine: Engine, mirror: Mirror, lines: Lines) -> None:
    if not shutil.which("mmdebstrap"):
        raise NoMirror("no registry answers, and mmdebstrap is not installed (mend: scripts/setup)")
    with tempfile.TemporaryDirectory(prefix="practicum-debian-") as folder:
        Path(folder).chmod(0o755)  # apt reads the keyrings in it as a user of its own
        archive = Path(folder) / "root.tar"
        _stream((*_elevated(), *_mmdebstrap(mirror, Path(folder), archive)), lines)
        engine.load_root(archive, BOOTSTRAPPED, SUITE)


def _mmdebstrap(mirror: Mirror, folder: Path, archive: Path) -> Sequence[str]:
    sources, keyrings = folder / "host.sources", folder / "keyrings"
    sources.write_text(mirror.sources())
    keyrings.mkdir()
    for path in _keyrings():
        shutil.copy(path, keyrings / path.name)
    options = (f"--aptopt={line}" for line in _options(mirror).splitlines() if "CAInfo" not in line)
    return (
        *("mmdebstrap", "--variant=apt", "--dpkgopt=force-unsafe-io", "--include=ca-certificates"),
        *(f"--keyring={keyrings}", *options, SUITE, str(archive), str(sources)),
    )


def _elevated() -> Sequence[str]:
    """Making device nodes and owners takes root; a password cannot be asked for in the middle of a build."""
    return ("sudo", "-n") if os.geteuid() != 0 and shutil.which("sudo") else ()


def _stanza(uri: str, suites: str) -> str:
    return f"Types: deb\nURIs: {uri}\nSuites: {suites}\nComponents: main\n"


def _options(mirror: Mirror | None) -> str:
    lines = ['Acquire::Languages "none";']
    if _has_apt():
        dumped = _output("apt-config", "dump", "--no-empty", "--format", '%f "%v";%n', *_KEPT_OPTIONS)
        lines += dumped.splitlines()
    if mirror is not None and mirror.archive.startswith("https") and CA_BUNDLE.is_file():
        lines.append('Acquire::https::CAInfo "/etc/apt/host-ca.crt";')
    return "\n".join(lines) + "\n"


def _keyrings() -> Iterator[Path]:
    for folder, pattern in KEYRINGS:
        yield from sorted(path for path in folder.glob(pattern) if path.suffix in {".gpg", ".asc", ".pgp"})


def _has_apt() -> bool:
    return shutil.which("apt-config") is not None


def _output(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


def _stream(argv: Sequence[str], lines: Lines) -> None:
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None  # a pipe was asked for
        for line in process.stdout:
            lines(line.rstrip())
    if process.returncode:
        raise StepFailed(f"{argv[0]} ended with exit code {process.returncode}")
