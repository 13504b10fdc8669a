"""The mirror of this machine, found through stand-ins for apt's programs on the PATH."""

from __future__ import annotations

from pathlib import Path

import pytest

from practicum.vm_images import debian
from practicum.vm_images.debian import Mirror, apt_files, host_mirror, proxies

TARGETS = """Packages of somebody else\thttps://elsewhere.example/apt/
Debian\thttp://mirror.example/debian/
Debian\thttp://mirror.example/debian/
Debian-Security\thttp://mirror.example/debian-security/
"""


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with only stand-ins on it, which print the files beside them."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return programs


def _program(folder: Path, name: str, output: str) -> None:
    (folder / f"{name}.out").write_text(output)
    (folder / name).write_text(f'#!/bin/sh\nexec /bin/cat "{folder}/{name}.out"\n')
    (folder / name).chmod(0o755)


def test_mirror_is_what_calls_itself_debian(apt: Path) -> None:
    _program(apt, "apt-get", TARGETS)
    assert host_mirror() == Mirror("http://mirror.example/debian/", "http://mirror.example/debian-security/")


@pytest.mark.parametrize("targets", ["", "Ubuntu\thttp://mirror.example/ubuntu/\n", "Debian\tcdrom:[x]/\n"])
def test_machine_whose_apt_has_no_debian_over_http_has_no_mirror(apt: Path, targets: str) -> None:
    _program(apt, "apt-get", targets)
    assert host_mirror() is None


def test_machine_without_apt_has_no_mirror(apt: Path) -> None:
    assert host_mirror() is None
    assert [name for name, _ in apt_files(None)] == ["apt/apt.conf.d/90host"]


def test_sources_name_the_suite_of_the_images_and_not_of_this_machine() -> None:
    sources = Mirror("http://mirror.example/debian/", "http://mirror.example/sec/").sources()
    stanzas = sources.split("\n\n")
    assert "URIs: http://mirror.example/debian/\nSuites: bookworm bookworm-updates\n" in stanzas[0] + "\n"
    assert "URIs: http://mirror.example/sec/\nSuites: bookworm-security\n" in stanzas[1]


def test_image_gets_the_options_and_keyrings_of_this_machine(
    apt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyrings = tmp_path / "keyrings"
    keyrings.mkdir()
    (keyrings / "a.gpg").write_bytes(b"key")
    (keyrings / "README").write_bytes(b"no key")
    monkeypatch.setattr(debian, "KEYRINGS", ((keyrings, "*"),))
    _program(apt, "apt-config", 'Acquire::Check-Date "false";\n')
    files = dict(apt_files(Mirror("http://mirror.example/debian/")))
    assert files["apt/trusted.gpg.d/a.gpg"] == b"key"
    assert "apt/trusted.gpg.d/README" not in files
    assert b'Acquire::Check-Date "false";' in files["apt/apt.conf.d/90host"]
    assert b"mirror.example" in files["apt/sources.list.d/host.sources"]


def test_proxy_of_apt_is_handed_to_the_build_and_the_environment_wins(
    apt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(apt, "apt-config", "http://apt-proxy.example:3142\n")
    assert proxies() == {"http_proxy": "http://apt-proxy.example:3142"}
    monkeypatch.setenv("http_proxy", "http://other.example:8080")
    assert proxies()["http_proxy"] == "http://other.example:8080"
