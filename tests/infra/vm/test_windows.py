"""Windows, as far as it can be tried without it: quoting, answer file, medium, command line, progress."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from pathlib import Path

import pycdlib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from practicum.vm_images.windows import answer, media, powershell, scripts
from practicum.vm_images.windows.installation import Mark, Progress, progress
from practicum.vm_images.windows.setup import DRIVERS, Program, Setup

words = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)))
QUOTES = "'\u2018\u2019\u201a\u201b"


def literal_of(source: str) -> str:
    """What PowerShell reads: a single-quoted literal, in which two quotes of any kind are the second one."""
    assert source[0] in QUOTES
    text, rest = "", source[1:]
    while rest[0] not in QUOTES or (len(rest) > 1 and rest[1] in QUOTES):
        if rest[0] in QUOTES:
            rest = rest[1:]
        text, rest = text + rest[0], rest[1:]
    assert len(rest) == 1, "the literal ended early"
    return text


def arguments_of(line: str) -> list[str]:
    """How the C runtime of a Windows program parses its command line after the program's name."""
    found, word, inside, begun, slashes = [], "", False, False, 0
    for char in f"{line} ":
        if char == "\\":
            slashes, begun = slashes + 1, True
            continue
        word += "\\" * (slashes // 2 if char == '"' else slashes)
        if char == '"':
            begun = True
            if slashes % 2:
                word += '"'
            else:
                inside = not inside
        elif char in " \t" and not inside:
            if begun:
                found.append(word)
            word, begun = "", False
        else:
            word, begun = word + char, True
        slashes = 0
    return found


@given(words)
def test_a_quoted_word_means_itself(word: str) -> None:
    """Nothing is expanded and nothing ends the literal early, whatever quote it is."""
    assert literal_of(powershell.quote(word)) == word


def test_no_literal_holds_nul() -> None:
    """It is refused, not cut."""
    with pytest.raises(ValueError, match="NUL"):
        powershell.quote("a\0b")


@given(st.lists(words))
def test_words_survive_a_windows_command_line(argv: list[str]) -> None:
    """Spaces, quotes and backslashes, also at the end."""
    line = powershell.command_line(argv)
    assert arguments_of(line) == argv


@given(words)
def test_an_encoded_script_is_the_script(script: str) -> None:
    """In UTF-16, as the option wants it."""
    payload = powershell.encoded(script)[-1]
    assert base64.b64decode(payload).decode("utf-16-le") == script


@given(st.lists(st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))), min_size=1))
def test_a_script_file_is_read_as_utf_8_with_windows_line_ends(lines: list[str]) -> None:
    """Its first bytes say so; each line ends in CRLF."""
    data = powershell.script_file(lines)
    assert data.startswith(b"\xef\xbb\xbf")
    assert data[3:].decode().split("\r\n") == [*lines, ""]


SETUP = Setup(password="not-a-secret-1A", product_key="AAAAA-BBBBB-CCCCC-DDDDD-EEEEE")
names = {"u": answer.NAMESPACE}


def test_the_answer_file_is_valid() -> None:
    """By the schema, with every pass that Setup goes through."""
    document = etree.fromstring(answer.write(SETUP))
    assert document.xpath("//u:settings/@pass", namespaces=names) == ["windowsPE", "specialize", "oobeSystem"]


@pytest.mark.parametrize(
    "wrong",
    [
        replace(SETUP, product_key="12345"),
        replace(SETUP, computer="a name that is much too long"),
        replace(SETUP, account="a/b"),
        replace(SETUP, language="english"),
        replace(SETUP, password="short"),
    ],
)
def test_what_setup_would_refuse_is_refused_here(wrong: Setup) -> None:
    """Before an hour of installation."""
    with pytest.raises(answer.NotValid):
        answer.write(wrong)


def test_an_answer_file_that_was_tampered_with_is_not_valid() -> None:
    """The schema knows orders, passes and values."""
    good = answer.write(SETUP)
    for before, after in ((b"windowsPE", b"windowsXP"), (b"<Order>1</Order>", b""), (b"NTFS", b"EXT4")):
        assert before in good
        with pytest.raises(answer.NotValid):
            answer.check(good.replace(before, after))


def test_the_disk_driver_is_looked_for_first() -> None:
    """On every letter before any other driver: without it there is nothing to install on."""
    paths = answer.driver_paths(SETUP)
    assert [path.partition("\\")[2].partition("\\")[0] for path in paths] == [
        name for name in DRIVERS for _ in range(len(paths) // len(DRIVERS))
    ]
    assert paths[0] == r"D:\viostor\w11\amd64"
    document = etree.fromstring(answer.write(SETUP))
    assert document.xpath("//u:DriverPaths//u:Path/text()", namespaces=names) == paths


def test_the_account_logs_on_by_itself_and_is_no_administrator() -> None:
    """As the agent, without a screen in between."""
    document = etree.fromstring(answer.write(SETUP))
    assert document.xpath("//u:AutoLogon/u:Username/text()", namespaces=names) == ["agent"]
    assert document.xpath("//u:LocalAccount/u:Group/text()", namespaces=names) == ["Users"]


def test_the_password_is_not_shown() -> None:
    """In no representation that ends in a log."""
    assert SETUP.password not in repr(SETUP)
    assert Setup().password != Setup().password


def test_the_medium_holds_what_setup_and_the_scripts_look_for(tmp_path: Path) -> None:
    """Under names that Windows reads, byte for byte."""
    (tmp_path / "Tool Setup.exe").write_bytes(bytes(range(256)) * 100)
    setup = replace(SETUP, programs=(Program(tmp_path / "Tool Setup.exe", ("/S", r"/D=C:\Tool Box")),))
    media.write(setup, tmp_path / "answers.iso")
    iso = pycdlib.PyCdlib()
    iso.open(str(tmp_path / "answers.iso"))
    try:
        for path, content in media.contents(setup):
            read = io.BytesIO()
            iso.get_file_from_iso_fp(read, joliet_path=f"/{path}")
            assert read.getvalue() == (content.read_bytes() if isinstance(content, Path) else content)
    finally:
        iso.close()


def test_programs_are_installed_from_where_they_were_laid() -> None:
    """Each with its own arguments, packages of the installer by the installer."""
    programs = (Program(Path("/m/a b.exe"), ("/S", "x y")), Program(Path("/m/tool.msi"), ("ALLUSERS=1",)))
    text = scripts.install(replace(SETUP, programs=programs)).decode("utf-8-sig")
    assert r"""Run 'C:\desk\programs\00\a b.exe' '/S "x y"'""" in text
    assert r"Run 'msiexec.exe' '/i C:\desk\programs\01\tool.msi /qn /norestart ALLUSERS=1'" in text


def test_progress_is_read_between_other_voices() -> None:
    """Firmware talks too; the last mark counts, and a failure is kept."""
    console = "BdsDxe: loading Boot0001\r\ndesk: settling\r\nnoise desk: ready\r\ndesk: drivers\r\n"
    assert progress(console) == Progress(Mark.DRIVERS)
    assert progress(console + "desk: program tool.msi\r\n").programs == ("tool.msi",)
    assert progress(console + "desk: failed: sc.exe ended with 5\r\n").failure == "sc.exe ended with 5"
    said = "".join(f"desk: {mark}\r\n" for mark in Mark)
    assert progress(said) == Progress(Mark.READY)


def test_the_scripts_say_every_mark_in_order() -> None:
    """What the builder waits for is what is said."""
    text = (scripts.settle(SETUP) + scripts.install(SETUP)).decode()
    places = [text.index(f"Say '{mark}'") for mark in Mark]
    assert places == sorted(places)
