from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from practicum.controller import doctor
from practicum.controller.cli.main import run
from practicum.controller.doctor import GIB, Finding, Standing
from practicum.vm_images.builder import Images
from practicum.vm_images.engine import Host

FULL = Host("28.0", "2", memory_limit=True, cpu_limit=True, pids_limit=True)


def nothing(_: str) -> None:
    return None


def everything(name: str) -> str:
    return f"/usr/bin/{name}"


def test_without_docker_it_names_the_mending_command_and_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert run(["doctor", "--json"]) == 1
    told = msgspec.json.decode(capsys.readouterr().out)
    assert told["well"] is False
    (docker,) = (finding for finding in told["findings"] if finding["name"] == "docker")
    assert docker["standing"] == "missing"
    assert docker["mend"] == "scripts/setup"


def test_every_finding_has_a_name_of_its_own_and_a_sentence() -> None:
    findings = list(doctor.examine(Images()))
    assert len({finding.name for finding in findings}) == len(findings)
    assert all(finding.sentence.endswith(".") for finding in findings)


@pytest.mark.parametrize(
    ("finding", "standing", "word"),
    [
        (doctor.python((3, 10, 9)), Standing.MISSING, "3.10.9"),
        (doctor.python((3, 13, 0)), Standing.OK, "3.13.0"),
        (doctor.limits(FULL), Standing.OK, "cgroups v2"),
        (doctor.limits(replace(FULL, pids_limit=False)), Standing.LIMITED, "pids"),
        (doctor.memory(2 * GIB), Standing.MISSING, "2.0 GiB"),
        (doctor.memory(4 * GIB), Standing.LIMITED, "one desk run at a time"),
        (doctor.memory(8 * GIB), Standing.OK, "8.0 GiB"),
        (doctor.libreoffice(nothing), Standing.MISSING, "LibreOffice"),
        (doctor.libreoffice(everything), Standing.OK, "LibreOffice"),
        (doctor.browser(nothing), Standing.LIMITED, "Chromium"),
        (doctor.qemu(nothing), Standing.LIMITED, "QEMU"),
        (doctor.qemu(everything, Path("/nowhere/kvm")), Standing.LIMITED, "slow"),
        (doctor.qemu(everything, Path("/dev/null")), Standing.OK, "KVM"),
    ],
)
def test_what_is_found_is_judged(finding: Finding, standing: Standing, word: str) -> None:
    assert finding.standing is standing
    assert word in finding.sentence


def test_only_what_is_missing_makes_it_unwell() -> None:
    limited = Finding("a", Standing.LIMITED, "x.")
    missing = Finding("b", Standing.MISSING, "x.")
    assert doctor.well([limited])
    assert not doctor.well([limited, missing])


def test_disk_of_a_folder_that_does_not_exist_yet_is_its_parents(tmp_path: Path) -> None:
    assert doctor.disk(tmp_path / "a" / "b").sentence == doctor.disk(tmp_path).sentence


def test_images_can_be_listed_without_an_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    assert run(["image", "list", "--json"]) == 0
    rows = msgspec.json.decode(capsys.readouterr().out)["images"]
    assert {row["image"] for row in rows} >= {"base", "office", "cad", "media"}
    assert {row["built"] for row in rows} == {None}


def test_unknown_image_is_one_line_and_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["image", "show", "attic"]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "no image 'attic'" in told
