"""An order typed into a web portal: graded is only what the portal received."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

import msgspec

from practicum.infra.desk.desk import Account, Desk
from practicum.infra.errors import DeskFault, Stage
from practicum.infra.operator import Operator
from practicum.tasks import oracle
from practicum.tasks.desk.business.web_order import service
from practicum.tasks.spec import Benign, Mutant, Params
from practicum.verifiers.verdict import Check, Verdict, check

ADDRESS = f"http://127.0.0.1:{service.PORT}/"
PORTAL = PurePosixPath("/var/lib/practicum/portal")
RECORD = "orders.json"
_PAGES = ("service.py", "frame.html", "order.html", "placed.html", "released.html")
_GUEST_PYTHON = "/usr/bin/python3"


@dataclass(frozen=True, slots=True)
class Family:
    """Articles that a hasty reader confuses: the same thing in several variants and pack sizes."""

    name: str
    unit: str
    variants: tuple[str, ...]
    packs: tuple[int, ...]


FAMILIES = (
    Family("Nitrile gloves", "pairs", ("size S", "size M", "size L"), (50, 75, 100)),
    Family("Centrifuge tubes 50 ml", "tubes", ("sterile", "non-sterile"), (25, 40, 50)),
    Family("Filter pipette tips", "tips", ("10 µl", "200 µl", "1000 µl"), (96, 192, 480)),
    Family("Petri dishes", "dishes", ("Ø 60 mm", "Ø 90 mm"), (20, 30, 33)),
    Family("Lens tissue", "sheets", ("100 × 150 mm", "150 × 200 mm"), (25, 60, 100)),
    Family("Cryo labels", "labels", ("white", "yellow"), (120, 250, 300)),
)
_SUPPLIERS = (
    "Holm & Berg Laboratory Supply",
    "Ostrava Labtek",
    "Carrick Scientific",
    "Vesterhav Lab Service",
)
_PEOPLE = ("Zoë Łukasik", "Íñigo Sørensen", "Márta Kovács", "Anaïs Böhm", "Jürgen Ağaoğlu", "Noëlle Strand")
_DEPARTMENTS = (
    "Cell Culture Core",
    "Soil Chemistry",
    "Clinical Virology",
    "Marine Genomics",
    "Optics Workshop",
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DOORS = ("B", "C2", "North", "7", "East ramp")


def generate(rng: Random, inputs: Path, reference: Path) -> Params:
    del inputs
    families = rng.sample(FAMILIES, 4)
    catalogue, needs = _catalogue(rng, families)
    order = _order(rng, needs)
    supplier, key = rng.choice(_SUPPLIERS), rng.randbytes(32).hex()
    (reference / "order.json").write_text(json.dumps(order, ensure_ascii=False, indent=1), encoding="utf-8")
    (reference / "key").write_text(key, encoding="ascii")
    return {
        "say": {
            "supplier": supplier,
            "address": ADDRESS,
            **{name: order[name] for name in service.FIELDS if name != "date"},
            "date": _spelled(order["date"]),
            "needs": "\n".join(f"  - {_need(need)}" for need in needs),
        },
        "portal": {"supplier": supplier, "key": key, "catalogue": catalogue},
        "needs": needs,
        "order": order,
    }


def stage(desk: Desk, inputs: Path, params: Params) -> None:
    del inputs
    for name in _PAGES:
        desk.put(Path(__file__).with_name(name), PORTAL / name, account=Account.HOUSE, mode=0o600)
    settings = json.dumps(params["portal"], ensure_ascii=False).encode()
    script = 'chmod 700 "$1" && umask 077 && cat > "$1/portal.json" && exec "$2" "$1/service.py" serve'
    _house(desk, "sh", "-c", script, "sh", str(PORTAL), _GUEST_PYTHON, stdin=settings)
    opened = desk.run(
        ["sh", "-c", 'setsid -f chromium --start-maximized "$1" >/dev/null 2>&1', "sh", ADDRESS]
    )
    if opened.exit_code != 0:
        raise DeskFault(
            Stage.STAGING, "Chromium did not start", logs=opened.stderr.decode("utf-8", "replace")
        )
    _house(desk, _GUEST_PYTHON, str(PORTAL / "service.py"), "opened")


def shown(params: Params) -> str:
    return service.order_page(
        params["portal"]["supplier"], params["portal"]["catalogue"], service.normalise({}), []
    )


def facts(params: Params) -> Mapping[str, str]:
    order = params["order"]
    stated = {name: order[name] for name in service.FIELDS if name != "date"} | {
        "date": params["say"]["date"]
    }
    for number, need in enumerate(params["needs"], 1):
        stated |= {f"need {number}": _need(need), f"pack {number}": f"{need['pack']} {need['unit']}"}
        stated |= {f"article {number}": need["article"]}
    return stated


def secrets(params: Params) -> Iterable[str]:
    yield service.confirmation_code(params["portal"]["key"], params["order"])
    yield params["portal"]["key"]


def solve(hands: Operator, params: Params) -> None:
    order = params["order"]
    fields = [order[name] for name in service.FIELDS]
    lines = [text for line in order["lines"] for text in (line["article"], line["packs"])]
    first = oracle.find(hands, role="entry", name="Account")
    hands.click(*first.centre)
    hands.type("\t".join([*fields, *lines]) + "\n")
    code = service.confirmation_code(params["portal"]["key"], order)
    oracle.find(hands, text=code)
    hands.type(code + "\n")
    oracle.find(hands, text="has been released")


def ideal(outputs: Path, reference: Path, params: Params) -> None:
    order = json.loads((reference / "order.json").read_text(encoding="utf-8"))
    _write(outputs, [_record(params, order, "released")])


class _Placed(msgspec.Struct):
    order: dict[str, Any]
    code: str
    status: str


class _Received(msgspec.Struct):
    orders: list[_Placed]


def verify(outputs: Path, reference: Path, params: Params) -> Verdict:
    del params
    wanted = json.loads((reference / "order.json").read_text(encoding="utf-8"))
    key = (reference / "key").read_text(encoding="ascii")
    try:
        received = msgspec.json.decode((outputs / RECORD).read_bytes(), type=_Received)
    except (FileNotFoundError, msgspec.MsgspecError) as error:
        return Verdict((check("record", False, reason=f"no record of the portal: {error}").as_gate(),))
    released = [placed for placed in received.orders if placed.status == "released"]
    one = check(
        "released once", len(released) == 1, expected="1 released order", found=len(released)
    ).as_gate()
    if not released:
        return Verdict((one,))
    return Verdict((one, *_order_checks(wanted, released[-1], key)))


def _order_checks(wanted: dict[str, Any], placed: _Placed, key: str) -> Iterable[Check]:
    genuine = service.confirmation_code(key, placed.order)
    yield check("confirmation code", placed.code == genuine, expected=genuine, found=placed.code).as_gate()
    for name in service.FIELDS:
        found = placed.order.get(name)
        yield check(name.replace("_", " "), found == wanted[name], expected=wanted[name], found=found)
    ordered = {str(line["article"]): str(line["packs"]) for line in placed.order.get("lines", [])}
    for line in wanted["lines"]:
        found = ordered.pop(line["article"], "0")
        name = f"packs of {line['article']}"
        yield check(
            name, found.isdecimal() and int(found) == int(line["packs"]), expected=line["packs"], found=found
        )
    yield check(
        "nothing else ordered", not ordered, expected="no other article", found=", ".join(sorted(ordered))
    )


def mutants(outputs: Path, params: Params) -> Iterable[Mutant]:
    del outputs
    first = params["order"]["lines"][0]
    packs, article = first["packs"], first["article"]
    sibling = _sibling(params["portal"]["catalogue"], params["needs"])
    yield Mutant("one pack short", f"packs of {article}", _retyped(params, packs=str(int(packs) - 1)))
    yield Mutant("units ordered as packs", f"packs of {article}", _retyped(params, packs="400"))
    yield Mutant("the variant beside it", "nothing else ordered", _retyped(params, article=sibling))
    yield Mutant(
        "day and month exchanged", "date", _retyped(params, date=_exchanged(params["order"]["date"]))
    )
    yield Mutant(
        "name without accents", "recipient", _retyped(params, recipient=_plain(params["order"]["recipient"]))
    )
    yield Mutant("other shipping", "shipping", _retyped(params, shipping=_other(params["order"]["shipping"])))
    yield Mutant("placed, never released", "released once", _rewritten(params, "placed"))
    yield Mutant("released twice", "released once", _rewritten(params, "released", "released"))
    yield Mutant("invented code", "confirmation code", _forged(params))


def benign(outputs: Path, params: Params) -> Iterable[Benign]:
    del outputs
    yield Benign("a first try left unreleased", _rewritten(params, "placed", "released"))
    yield Benign("lines in another order", _retyped(params, reverse=True))
    yield Benign("record written compactly", _compacted)


def _catalogue(rng: Random, families: list[Family]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Every variant of the families, and one need out of each of the first three."""
    numbers = rng.sample(range(1000, 9999), sum(len(family.variants) for family in families))
    catalogue: list[dict[str, Any]] = []
    needs: list[dict[str, Any]] = []
    for index, family in enumerate(families):
        letters = "".join(word[0] for word in family.name.split()[:2]).upper()
        wanted = rng.randrange(len(family.variants))
        for variant, text in enumerate(family.variants):
            pack, price = rng.choice(family.packs), rng.randrange(450, 9800) / 100
            article = f"{letters}-{numbers.pop()}"
            catalogue.append(
                {
                    "article": article,
                    "name": f"{family.name}, {text}",
                    "pack": f"{pack} {family.unit}",
                    "price": f"{price:.2f} €",
                }
            )
            if variant == wanted and index < service.LINES:
                packs = rng.randrange(3, 9)
                units = packs * pack - rng.randrange(1, pack // 2)
                needs.append(
                    {
                        "article": article,
                        "name": f"{family.name}, {text}",
                        "unit": family.unit,
                        "units": units,
                        "pack": pack,
                        "packs": packs,
                    }
                )
    return sorted(catalogue, key=lambda item: str(item["name"])), needs


def _order(rng: Random, needs: list[dict[str, Any]]) -> dict[str, Any]:
    day, month = rng.sample(range(1, 13), 2)
    form = {
        "account": f"{rng.randrange(10000, 99999)}-{rng.choice('KLMNP')}",
        "cost_centre": f"CC {rng.randrange(100, 999)}/{rng.randrange(10, 99)}",
        "recipient": rng.choice(_PEOPLE),
        "department": rng.choice(_DEPARTMENTS),
        "date": datetime.date(2027, month, day).isoformat(),
        "note": f"Ring at door {rng.choice(_DOORS)}, ext. {rng.randrange(200, 999)}, not after 15:30!",
        "shipping": rng.choice(service.SHIPPING),
    }
    for number, need in enumerate(needs, 1):
        form |= {f"article{number}": need["article"], f"packs{number}": str(need["packs"])}
    return service.normalise(form)


def _need(need: Mapping[str, Any]) -> str:
    return f"at least {need['units']} {need['unit']} of {need['name']}"


def _spelled(iso: str) -> str:
    date = datetime.date.fromisoformat(iso)
    return f"{date.day} {_MONTHS[date.month - 1]} {date.year}"


def _house(desk: Desk, *argv: str, stdin: bytes = b"") -> None:
    done = desk.run(argv, account=Account.HOUSE, stdin=stdin, timeout=150.0)
    if done.exit_code != 0:
        raise DeskFault(
            Stage.STAGING,
            f"{argv[0]}: exit code {done.exit_code}",
            logs=done.stderr.decode("utf-8", "replace"),
        )


def _record(params: Params, order: dict[str, Any], status: str) -> dict[str, Any]:
    return {
        "order": order,
        "code": service.confirmation_code(params["portal"]["key"], order),
        "status": status,
    }


def _write(outputs: Path, orders: list[dict[str, Any]]) -> None:
    text = json.dumps({"orders": orders}, ensure_ascii=False, indent=1)
    (outputs / RECORD).write_text(text, encoding="utf-8")


def _rewritten(params: Params, *statuses: str) -> Callable[[Path], None]:
    records = [_record(params, dict(params["order"]), status) for status in statuses]
    return lambda outputs: _write(outputs, records)


def _retyped(
    params: Params, *, packs: str = "", article: str = "", reverse: bool = False, **fields: str
) -> Callable[[Path], None]:
    """The order typed otherwise, with the code that the portal would then have given."""
    lines = [dict(line) for line in params["order"]["lines"]]
    lines[0] = {"article": article or lines[0]["article"], "packs": packs or lines[0]["packs"]}
    order = dict(params["order"]) | fields | {"lines": lines[::-1] if reverse else lines}
    return lambda outputs: _write(outputs, [_record(params, order, "released")])


def _forged(params: Params) -> Callable[[Path], None]:
    record = _record(params, dict(params["order"]), "released") | {"code": "0000-0000"}
    return lambda outputs: _write(outputs, [record])


def _compacted(outputs: Path) -> None:
    path = outputs / RECORD
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")


def _sibling(catalogue: list[dict[str, Any]], needs: list[dict[str, Any]]) -> str:
    family = needs[0]["name"].partition(",")[0]
    return next(
        str(item["article"])
        for item in catalogue
        if item["name"].startswith(family) and item["article"] != needs[0]["article"]
    )


def _exchanged(iso: str) -> str:
    year, month, day = iso.split("-")
    return f"{year}-{day}-{month}"


def _plain(name: str) -> str:
    table = str.maketrans("ëŁÍñøáÁïöüğÜ", "eLInoaAiougU")
    return name.translate(table)


def _other(shipping: str) -> str:
    return next(name for name in service.SHIPPING if name != shipping)
