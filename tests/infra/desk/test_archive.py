"""Nothing an untrusted machine writes into a tar can reach outside the folder it is unpacked into."""

from __future__ import annotations

import contextlib
import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from practicum.infra.desk.archive import extract
from practicum.infra.errors import OutputRefused

CAP = 10_000


def member(name: str, kind: bytes = tarfile.REGTYPE, data: bytes = b"", link: str = "") -> tuple:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, len(data), link
    return info, data


def tar(*members: tuple) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    buffer.seek(0)
    return buffer


def unpack(stream: io.BytesIO, target: Path) -> int:
    return extract(stream, target, max_bytes=CAP, max_files=20)


def test_a_file_and_a_folder_come_out_whole(tmp_path: Path) -> None:
    """A single file becomes the target; a folder keeps its tree."""
    assert unpack(tar(member("out.txt", data=b"hi")), tmp_path / "renamed.txt") == 2
    assert (tmp_path / "renamed.txt").read_bytes() == b"hi"
    folder = tar(member("d", tarfile.DIRTYPE), member("d/e/f", data=b"xyz"))
    assert unpack(folder, tmp_path / "folder") == 3
    assert (tmp_path / "folder/e/f").read_bytes() == b"xyz"


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_never_come_out(tmp_path: Path, kind: bytes) -> None:
    """As the output itself they are refused; inside a folder they are left out."""
    with pytest.raises(OutputRefused):
        unpack(tar(member("out", kind, link="/etc/passwd")), tmp_path / "a")
    inside = tar(member("d", tarfile.DIRTYPE), member("d/x", kind, link="/etc/passwd"), member("d/y"))
    unpack(inside, tmp_path / "b")
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["y"]


@pytest.mark.parametrize("name", ["d/../../evil", "/etc/evil", "d/" + "n" * 300, "d" + "/d" * 60])
def test_names_that_reach_outside_or_too_far_are_refused(tmp_path: Path, name: str) -> None:
    """Traversal, absolute and overlong names end the copy."""
    with pytest.raises(OutputRefused):
        unpack(tar(member("d", tarfile.DIRTYPE), member(name, data=b"x")), tmp_path / "t")


def test_caps_count_bytes_and_files(tmp_path: Path) -> None:
    """One byte or one file over the cap refuses the whole output."""
    with pytest.raises(OutputRefused, match="bytes"):
        unpack(tar(member("big", data=b"0" * (CAP + 1))), tmp_path / "a")
    with pytest.raises(OutputRefused, match="files"):
        unpack(tar(member("d", tarfile.DIRTYPE), *(member(f"d/{i}") for i in range(20))), tmp_path / "b")


def test_a_name_met_twice_is_refused(tmp_path: Path) -> None:
    """A second entry of one name cannot write through what the first one made."""
    with pytest.raises(OutputRefused, match="two things"):
        unpack(tar(member("f", data=b"1"), member("f", data=b"2")), tmp_path / "a")
    nested = tar(member("d", tarfile.DIRTYPE), member("d/f", data=b"1"), member("d/f/g", data=b"2"))
    with pytest.raises(OutputRefused, match="two things"):
        unpack(nested, tmp_path / "b")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cut=st.integers(0, 4000), flips=st.lists(st.tuples(st.integers(0, 4000), st.integers(1, 255)), max_size=8)
)
def test_damaged_archives_stay_inside(tmp_path_factory, cut: int, flips: list[tuple[int, int]]) -> None:
    """Truncated or mutated archives end as a refusal or a subset of files, never elsewhere."""
    good = tar(member("d", tarfile.DIRTYPE), member("d/a", data=b"a" * 900), member("d/b", data=b"b"))
    data = bytearray(good.getvalue())
    for place, value in flips:
        data[place % len(data)] ^= value
    base = tmp_path_factory.mktemp("damaged")
    (base / "witness").write_text("here")
    with contextlib.suppress(OutputRefused):
        unpack(io.BytesIO(bytes(data[: len(data) - cut])), base / "target")
    assert {path.name for path in base.iterdir()} <= {"witness", "target"}
    assert not any(path.is_symlink() for path in base.rglob("*"))
