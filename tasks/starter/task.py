"""Say here what the task asks, and what only a careful worker gets right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from random import Random

from practicum.infra.operator import Operator
from practicum.tasks.spec import Benign, Mutant, Params
from practicum.verifiers.verdict import Verdict, check

ANSWER = "answer.txt"


def generate(rng: Random, inputs: Path, reference: Path) -> Params:
    """Write the inputs and the reference; all randomness comes from `rng`."""
    amounts = [Decimal(rng.randrange(100, 100000)) / 100 for _ in range(rng.randrange(8, 13))]
    (inputs / "amounts.txt").write_text("".join(f"{amount}\n" for amount in amounts), encoding="utf-8")
    (reference / "total").write_text(f"{sum(amounts)}", encoding="utf-8")
    return {
        "say": {"count": str(len(amounts))},
        "amounts": [f"{amount}" for amount in amounts],
        "total": f"{sum(amounts)}",
    }


def facts(params: Params) -> Mapping[str, str]:
    """Each graded fact, in words that stand where the agent can read them."""
    return {f"amount {number}": amount for number, amount in enumerate(params["amounts"], 1)}


def secrets(params: Params) -> Iterable[str]:
    """Answers that may stand nowhere in the inputs or the instruction."""
    yield params["total"]


def solve(hands: Operator, params: Params) -> None:
    """The oracle, through the same tools an agent has."""
    hands.write_file(f"/home/agent/outputs/{ANSWER}", f"{params['total']}\n")


def ideal(outputs: Path, reference: Path, params: Params) -> None:
    """A right output, made on the host."""
    del params
    (outputs / ANSWER).write_text((reference / "total").read_text(encoding="utf-8"), encoding="utf-8")


def verify(outputs: Path, reference: Path, params: Params) -> Verdict:
    """Pure, deterministic, and calm about missing or hostile files."""
    del params
    wanted = Decimal((reference / "total").read_text(encoding="utf-8"))
    found = _read(outputs / ANSWER)
    readable = check(
        "answer", found is not None, expected="one amount", found="nothing that is one"
    ).as_gate()
    if found is None:
        return Verdict((readable,))
    return Verdict((readable, check("total", found == wanted, expected=wanted, found=found)))


def mutants(outputs: Path, params: Params) -> Iterable[Mutant]:
    """Wrong in one fact each; `fails` names the check that must notice."""
    del outputs
    total = Decimal(params["total"])
    yield Mutant("a cent too much", "total", _written(f"{total + Decimal('0.01')}\n"))
    yield Mutant("last amount left out", "total", _written(f"{total - Decimal(params['amounts'][-1])}\n"))
    yield Mutant("words only", "answer", _written("the total\n"))


def benign(outputs: Path, params: Params) -> Iterable[Benign]:
    """Right, but written differently."""
    del outputs
    yield Benign("CRLF", _written(f"{params['total']}\r\n"))
    yield Benign("byte order mark, no line end", _written(f"\ufeff{params['total']}"))


def _read(path: Path) -> Decimal | None:
    try:
        return Decimal(path.read_text(encoding="utf-8-sig").strip())
    except (FileNotFoundError, UnicodeDecodeError, InvalidOperation):
        return None


def _written(text: str) -> Callable[[Path], None]:
    def apply(outputs: Path) -> None:
        (outputs / ANSWER).write_bytes(text.encode())

    return apply
