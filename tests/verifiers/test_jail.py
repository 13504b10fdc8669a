"""The jail: nothing reaches out, nothing runs on, and a failure is put down to whoever caused it."""

import json
import os
import socket
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import psutil
import pytest
from PIL import Image

from practicum.verifiers import jail
from practicum.verifiers.errors import JailUnavailable, VerifierFault
from practicum.verifiers.jail import JailLimits
from practicum.verifiers.verdict import Verdict

HEAD = """
from practicum.verifiers.verdict import Verdict, check
def verdict(passed, found=""):
    return Verdict((check("seen", passed, found=found),))
"""
Grader = Callable[..., Verdict]


class Exam:
    """Folders of one grading, and the verifier to run."""

    def __init__(self, root: Path) -> None:
        self.outputs, self.reference, self.code = root / "outputs", root / "reference", root / "code"
        for folder in (self.outputs, self.reference, self.code):
            folder.mkdir()

    def grade(self, body: str, **limits: int | float) -> Verdict:
        (self.code / "subject.py").write_text(HEAD + dedent(body))
        return jail.grade(
            "subject:verify", self.outputs, self.reference, {"n": 1},
            limits=JailLimits(**limits), search_path=(self.code,),  # type: ignore[arg-type] # numbers by name
        )  # fmt: skip


@pytest.fixture
def exam(tmp_path: Path) -> Exam:
    return Exam(tmp_path)


@pytest.fixture
def no_survivors() -> Iterator[None]:
    """Whatever ran inside has ended when the grading has."""
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    yield
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def test_a_verifier_reads_both_folders_and_the_params(exam: Exam) -> None:
    """Outputs, reference and params arrive; the verdict with its evidence comes back."""
    (exam.outputs / "a.txt").write_text("7")
    (exam.reference / "b.txt").write_text("7")
    verdict = exam.grade(
        """
        from dataclasses import replace
        from practicum.verifiers.verdict import Evidence
        def verify(outputs, reference, params):
            same = (outputs / "a.txt").read_text() == (reference / "b.txt").read_text()
            shown = Evidence("a.bin", "application/octet-stream", bytes(range(256)))
            return Verdict((replace(check("same", same and params["n"] == 1), evidence=(shown,)),))
        """
    )
    assert verdict.passed
    assert verdict.checks[0].evidence[0].data == bytes(range(256))


def test_nothing_of_the_host_is_visible(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable, no home, no other folder of the machine; and nothing can be written but scratch."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    verdict = exam.grade(
        """
        import os, pathlib
        def writable(path):
            try:
                pathlib.Path(path, "written-here").write_text("x")
            except OSError:
                return False
            return True
        def verify(outputs, reference, params):
            places = ("/", "/exam", outputs, reference, "/usr", "/dev", "/tmp")
            open_to_writing = [place for place in places if writable(place)]
            return verdict(True, repr((sorted(os.environ), sorted(os.listdir("/exam")), os.listdir("/home")
                           if os.path.exists("/home") else [], open_to_writing, os.getuid())))
        """
    )
    environment, exam_folder, home, open_to_writing, uid = eval(verdict.checks[0].found)
    assert "OPENAI_API_KEY" not in environment
    assert exam_folder == ["outputs", "reference"]
    assert home == []
    assert open_to_writing == ["/tmp"]
    assert uid == 65534


def test_there_is_no_network(exam: Exam) -> None:
    """A server of the host cannot be reached, and no name resolves."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        verdict = exam.grade(
            f"""
            import socket
            def verify(outputs, reference, params):
                for address in (("127.0.0.1", {server.getsockname()[1]}), ("192.0.2.1", 80)):
                    try:
                        socket.create_connection(address, 1).close()
                        return verdict(False, repr(address))
                    except OSError:
                        pass
                return verdict(True)
            """
        )
    assert verdict.passed


def test_a_bug_is_our_fault(exam: Exam) -> None:
    """An exception nobody expected is a fault with its traceback, whatever the outputs were."""
    with pytest.raises(VerifierFault, match="KeyError") as caught:
        exam.grade("def verify(outputs, reference, params): return {}['x']")
    assert "Traceback" in caught.value.logs


@pytest.mark.parametrize(
    "body", ["def verify(o, r, p): return 1", "import nonsense_that_is_not_there", "x = ("]
)
def test_what_is_no_verifier_is_our_fault(exam: Exam, body: str) -> None:
    """No verdict, no module, no syntax: a fault."""
    with pytest.raises(VerifierFault):
        exam.grade(body)


def test_an_unreadable_output_scores_nothing_and_an_unreadable_reference_is_our_fault(exam: Exam) -> None:
    """The same error means different things about different files."""
    (exam.outputs / "a.stl").write_text("junk")
    (exam.reference / "a.stl").write_text("junk")
    body = """
        from practicum.verifiers.mesh import stl
        def verify(outputs, reference, params): stl.read({} / "a.stl")
    """
    verdict = exam.grade(body.format("outputs"))
    assert verdict.failures() == ("readable outputs",)
    assert verdict.score == 0.0
    with pytest.raises(VerifierFault, match="too few"):
        exam.grade(body.format("reference"))


HUNGER = {
    "memory": ("held = [bytearray(64 << 20) for _ in range(200)]", {"memory": 1 << 30}),
    "processor": ("while True: pass", {"cpu_seconds": 2}),
    "wall time": ("while True: pass", {"wall_seconds": 1.5}),
    "file size": ("open('/tmp/large', 'wb').write(bytes(8 << 20))", {"file_size": 1 << 20}),
    "scratch": ("[open(f'/tmp/{i}', 'wb').write(bytes(1 << 20)) for i in range(64)]", {"scratch": 8 << 20}),
    "nesting": ("f = lambda: f(); f()", {}),
    "a native crash": ("import ctypes; ctypes.string_at(0)", {}),
    "a huge verdict": ("return verdict(True, 'x' * (4 << 20))", {"verdict_bytes": 1 << 20}),
    "processes": ("import os\n        while True: os.fork()", {"processes": 24}),
}


@pytest.mark.usefixtures("no_survivors")
@pytest.mark.parametrize("name", HUNGER)
def test_hunger_that_outputs_cause_scores_nothing(exam: Exam, name: str) -> None:
    """Where empty outputs can be graded, running out is put down to the outputs: 0, no fault."""
    code, limits = HUNGER[name]
    (exam.outputs / "bomb").write_text("x")
    verdict = exam.grade(
        f"""
def verify(outputs, reference, params):
    if (outputs / "bomb").exists():
        {code}
    return verdict(False)
        """,
        **limits,  # type: ignore[arg-type] # numbers by name
    )
    assert verdict.failures() == ("within limits",)
    assert verdict.score == 0.0
    assert "ran out" in verdict.checks[0].reason


@pytest.mark.usefixtures("no_survivors")
@pytest.mark.parametrize("name", ["memory", "wall time"])
def test_hunger_of_its_own_is_our_fault(exam: Exam, name: str) -> None:
    """A verifier that runs out on empty outputs too is at fault."""
    code, limits = HUNGER[name]
    (exam.outputs / "innocent").write_text("x")
    with pytest.raises(VerifierFault, match=r"with empty outputs too|idle"):
        exam.grade(f"def verify(outputs, reference, params):\n    {code}", **limits)  # type: ignore[arg-type]


@pytest.mark.usefixtures("no_survivors")
def test_idling_until_the_limit_is_our_fault(exam: Exam) -> None:
    """A hang is not the agent's, even where only these outputs bring it about."""
    (exam.outputs / "bomb").write_text("x")
    with pytest.raises(VerifierFault, match="idle"):
        exam.grade(
            """
            import threading
            def verify(outputs, reference, params):
                if (outputs / "bomb").exists():
                    threading.Event().wait(60)
                return verdict(False)
            """,
            wall_seconds=5.0,
        )


PLANTED = {
    "symbolic link": lambda folder: (folder / "x").symlink_to("/etc/passwd"),
    "named pipe": lambda folder: os.mkfifo(folder / "x"),
    "hard links": lambda folder: ((folder / "y").write_text("y"), os.link(folder / "y", folder / "x")),
    "deeper than": lambda folder: (folder / "/".join(["d"] * 40)).mkdir(parents=True),
    "more than 1000": lambda folder: [(folder / str(n)).write_text("") for n in range(1001)],
    "bytes": lambda folder: ((folder / "x").touch(), os.truncate(folder / "x", 2 << 30)),
}


@pytest.mark.parametrize("reason", PLANTED)
def test_outputs_that_are_not_plain_are_not_even_looked_at(exam: Exam, reason: str) -> None:
    """Links, devices and masses end before any parser, as a 0 with the reason."""
    PLANTED[reason](exam.outputs)
    verdict = exam.grade("def verify(o, r, p): return verdict(True)", outputs_files=1000)
    assert verdict.failures() == ("plain outputs",)
    assert reason in verdict.checks[0].reason


REACH = """
import os
for number in range(64):
    for target in (f"/proc/{PID}/fd/{number}", f"/proc/{PID}/mem"):
        try:
            os.open(target, os.O_WRONLY)
            print("reached", target)
        except OSError:
            pass
"""
PROBE = "import os\nfor path in ('/exam', '/proc', '/tmp/other'): print(os.path.exists(path))"


def test_a_program_under_test_cannot_write_the_verdict(exam: Exam) -> None:
    """A child of the verifier reaches neither its report pipe, nor its memory, nor the reference."""
    (exam.reference / "secret").write_text("42")
    verdict = exam.grade(
        f"""
        import os, subprocess, sys, tempfile
        from pathlib import Path
        from practicum.verifiers.jail import confined
        def verify(outputs, reference, params):
            reach = {REACH!r}.replace("{{PID}}", str(os.getpid()))
            done = subprocess.run([sys.executable, "-c", reach], capture_output=True, text=True)
            Path("/tmp/other").write_text("x")
            with tempfile.TemporaryDirectory() as folder:
                inner = confined.run(["python3", "-c", {PROBE!r}], Path(folder), seconds=20)
            shut = done.returncode == 0 and not done.stdout
            return verdict(shut and inner.stdout.split() == [b"False"] * 3, repr((done, inner)))
        """
    )
    assert verdict.passed, verdict.checks[0].found


def test_bombs_in_files_score_nothing(exam: Exam) -> None:
    """Zip, entity and pixel bombs, a pickle and a lying length are all refused in bounded time."""
    with zipfile.ZipFile(exam.outputs / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(300 << 20))
    lines = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<!DOCTYPE svg [<!ENTITY l0 "lol">{lines}]>'
    body = '<svg xmlns="http://www.w3.org/2000/svg"><text>&l9;</text></svg>'
    (exam.outputs / "bomb.svg").write_text(head + body)
    Image.new("1", (40_000, 40_000)).save(exam.outputs / "bomb.png")
    (exam.outputs / "bomb.db").write_bytes(b"SQLite format 3\0" + b"\x80\x04\x95" * 200)
    (exam.outputs / "bomb.glb").write_bytes(
        b"glTF\x02\0\0\0\xff\xff\xff\x7f" + json.dumps([[]] * 50).encode()
    )
    for name in ("a.xlsx", "a.svg", "a.png", "a.db", "a.stl"):
        (exam.reference / name).write_bytes(b"")
    verdict = exam.grade(
        """
        from practicum.verifiers.database import sqlite
        from practicum.verifiers.errors import Unreadable
        from practicum.verifiers.image import raster
        from practicum.verifiers.mesh import formats
        from practicum.verifiers.tables import workbook
        from practicum.verifiers.vector import svg
        READERS = {"bomb.xlsx": workbook.read, "bomb.svg": svg.read, "bomb.png": raster.read,
                   "bomb.db": sqlite.read, "bomb.glb": formats.read}
        def verify(outputs, reference, params):
            through = []
            for name, read in READERS.items():
                try:
                    read(outputs / name)
                    through.append(name)
                except Unreadable:
                    pass
            return verdict(not through, repr(through))
        """,
        cpu_seconds=20,
    )
    assert verdict.passed, verdict.checks[0].found


def test_without_bubblewrap_it_says_what_to_install(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that cannot hold the jail gets a typed error with the mending command."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(JailUnavailable, match="apt-get install bubblewrap"):
        exam.grade("def verify(o, r, p): return verdict(True)")
