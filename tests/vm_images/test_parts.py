"""Contexts, the progress meter, and manifests."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.vm_images import wheels
from practicum.vm_images.context import archive
from practicum.vm_images.errors import BuildFailed
from practicum.vm_images.layers import GUEST, layers_of
from practicum.vm_images.manifest import packages_of, programs_of, upstream
from practicum.vm_images.meter import Meter
from practicum.vm_images.recipe import GUEST_LOCK, Offer, Recipes

PAINT = Offer("paint", "Paint", "paint", ("paint",), "Paint$", version="2.1")


@given(st.dictionaries(st.text("abc/", min_size=1).map(lambda name: f"x{name}y"), st.binary(max_size=64)))
def test_context_holds_what_was_put_in_and_nothing_of_this_machine(entries: dict[str, bytes]) -> None:
    with archive(entries.items()) as one, archive(entries.items()) as two:
        assert one.read() == two.read()
        one.seek(0)
        with tarfile.open(fileobj=one) as tar:
            members = tar.getmembers()
            found = {member.name: tar.extractfile(member).read() for member in members}  # type: ignore[union-attr] # only regular files are put in
    assert found == entries
    assert {(member.uid, member.gid, member.mtime, member.mode) for member in members} <= {(0, 0, 0, 0o644)}


LINES = st.one_of(
    st.text(max_size=40),
    st.builds("Step {}/{} : RUN x".format, st.integers(1, 9), st.integers(1, 9)),
    st.builds("0 upgraded, {} newly installed, 0 to remove".format, st.integers(0, 9)),
    st.builds("Unpacking p{} (1.0) ...".format, st.integers(0, 9)),
)


@given(st.lists(LINES, max_size=40))
def test_meter_never_falls_and_is_never_done_before_the_end(lines: list[str]) -> None:
    meter = Meter()
    seen = [meter.feed(line) for line in lines]
    assert seen == sorted(seen)
    assert all(0 <= done < 1 for done in seen)


def test_meter_follows_apt() -> None:
    """Half of the packages unpacked is about half of the way."""
    meter = Meter()
    meter.feed("Step 1/2 : RUN apt-get install")
    meter.feed("0 upgraded, 2 newly installed, 0 to remove and 0 not upgraded.")
    for line in (
        "Get:1 http://mirror/debian a [1 kB]",
        "Get:2 http://mirror/debian b [1 kB]",
        "Unpacking a (1)",
    ):
        meter.feed(line)
    assert meter.done == pytest.approx(0.45, abs=0.1)
    for line in ("Unpacking b (1)", "Setting up a (1)", "Setting up b (1)"):
        meter.feed(line)
    assert meter.done >= 0.9


@pytest.mark.parametrize(
    ("debian", "plain"),
    [
        ("4:7.4.7-1+deb12u14", "7.4.7"),
        ("2021.01-6", "2021.01"),
        ("0.20.2+dfsg1-4", "0.20.2+dfsg1"),
        ("3.4", "3.4"),
    ],
)
def test_upstream_version(debian: str, plain: str) -> None:
    assert upstream(debian) == plain


def test_programs_have_the_versions_of_their_packages() -> None:
    packages = packages_of("paint\t1:2.1.3-4\nlibpaint\t2.1.3-4\n")
    assert programs_of("office", [PAINT], packages) == {"paint": "1:2.1.3-4"}


@pytest.mark.parametrize("listing", ["libpaint\t2.1\n", "paint\t2.2-1\n", ""])
def test_an_offer_that_is_absent_or_of_another_version_fails_the_build(listing: str) -> None:
    with pytest.raises(BuildFailed, match="Paint"):
        programs_of("office", [PAINT], packages_of(listing))


def test_layers_stand_on_each_other_and_end_in_the_image(house: Path, tmp_path: Path) -> None:
    guest = tmp_path / "guest"
    guest.mkdir()
    layers = layers_of(Recipes(house), "office", guest)
    assert [layer.name for layer in layers] == ["debian", "base-apps", "office-apps", "office"]
    assert [layer.parent for layer in layers] == ["", *(layer.tag for layer in layers[:-1])]
    assert layers[:2] == layers_of(Recipes(house), "media", guest)[:2]


def test_wheels_are_unpacked_where_python_finds_them(tmp_path: Path) -> None:
    wheel = tmp_path / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as content:
        content.mkdir("x")
        content.writestr("x/__init__.py", "y = 1\n")
    assert list(wheels.entries((wheel,), "lib/")) == [("lib/x/__init__.py", b"y = 1\n")]


def test_guest_lock_holds_what_the_guest_program_asks_for() -> None:
    """`make lock` was run after the guest program's requirements changed."""
    asked = (GUEST / "requirements.txt").read_text().split()
    locked = GUEST_LOCK.read_text()
    assert asked
    assert all(f"{requirement} \\\n" in locked for requirement in asked)
