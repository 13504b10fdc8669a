"""The ordering portal: standard library only, because it runs inside the desk, as the house.

`portal.json` beside it says what it sells and holds its key; `orders.json` is what it received. Both lie
in a folder that only the house can enter. `serve` returns once the port is open, `opened` once a browser has
shown the order form.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import os
import re
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from typing import Any

HERE = Path(__file__).resolve().parent
PORT = 8080
LINES = 3
FIELDS = ("account", "cost_centre", "recipient", "department", "date", "note", "shipping")
SHIPPING = ("Standard", "Cold chain", "Express")
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_MAX_BODY = 64 << 10
_FIRST_LOOK = 120.0

Order = dict[str, Any]


def normalise(form: Mapping[str, str]) -> Order:
    """What was typed, without surrounding or doubled spaces; articles in capitals, empty lines gone."""
    order: Order = {name: " ".join(form.get(name, "").split()) for name in FIELDS}
    typed = [
        (form.get(f"article{n}", "").strip().upper(), form.get(f"packs{n}", "").strip())
        for n in range(1, LINES + 1)
    ]
    order["lines"] = [{"article": article, "packs": packs} for article, packs in typed if article or packs]
    return order


def confirmation_code(key: str, order: Order) -> str:
    """Eight characters computed from the key and what was typed, and from nothing else."""
    typed = json.dumps(order, sort_keys=True, ensure_ascii=False).encode()
    number = int.from_bytes(hmac.new(bytes.fromhex(key), typed, hashlib.sha256).digest()[:5], "big")
    code = "".join(ALPHABET[(number >> shift) & 31] for shift in range(35, -1, -5))
    return f"{code[:4]}-{code[4:]}"


def objections(order: Order, catalogue: list[dict[str, Any]]) -> list[str]:
    """What the form cannot be accepted with, as the page says it."""
    known = {item["article"] for item in catalogue}
    found = [f"{name.replace('_', ' ').capitalize()} is missing." for name in FIELDS[:5] if not order[name]]
    if order["date"] and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", order["date"]):
        found.append("The delivery date must be written as YYYY-MM-DD.")
    if order["shipping"] not in SHIPPING:
        found.append("Choose a shipping method.")
    if not order["lines"]:
        found.append("The order has no line.")
    for line in order["lines"]:
        if line["article"] not in known:
            found.append(f"There is no article {line['article'] or '(empty)'}.")
        if not re.fullmatch(r"[1-9]\d{0,5}", line["packs"]):
            found.append(f"The number of packs for {line['article'] or 'a line'} must be a whole number.")
    return found


class Portal:
    """The state of one desk's portal; every change is on disk before it is shown."""

    def __init__(self, folder: Path) -> None:
        settings = json.loads((folder / "portal.json").read_text(encoding="utf-8"))
        self.supplier: str = settings["supplier"]
        self.catalogue: list[dict[str, Any]] = settings["catalogue"]
        self.key: str = settings["key"]
        self.file = folder / "orders.json"
        self.orders: list[Order] = []
        self.shown = threading.Event()
        self.lock = threading.Lock()
        self._save()

    def place(self, order: Order) -> int:
        with self.lock:
            code = confirmation_code(self.key, order)
            self.orders.append({"order": order, "code": code, "status": "placed"})
            self._save()
            return len(self.orders) - 1

    def release(self, number: int, code: str) -> bool:
        with self.lock:
            if not 0 <= number < len(self.orders) or code.strip().upper() != self.orders[number]["code"]:
                return False
            self.orders[number]["status"] = "released"
            self._save()
            return True

    def _save(self) -> None:
        draft = self.file.with_suffix(".part")
        draft.write_text(json.dumps({"orders": self.orders}, ensure_ascii=False, indent=1), encoding="utf-8")
        draft.replace(self.file)


def order_page(supplier: str, catalogue: list[dict[str, Any]], order: Order, problems: list[str]) -> str:
    rows = "".join(
        f"<tr><td class=no>{item['article']}</td><td>{html.escape(item['name'])}</td>"
        f"<td>{html.escape(item['pack'])}</td><td class=money>{item['price']}</td></tr>"
        for item in catalogue
    )
    lines = [*order["lines"], *[{"article": "", "packs": ""}] * LINES][:LINES]
    line_inputs = "".join(
        f"<div class=line><span>{n}</span>"
        f"<input name=article{n} aria-label='Article {n}' value='{html.escape(line['article'])}'>"
        f"<input name=packs{n} aria-label='Packs {n}' value='{html.escape(line['packs'])}'></div>"
        for n, line in enumerate(lines, 1)
    )
    options = "<option value=''>Choose…</option>" + "".join(
        f"<option{' selected' if name == order['shipping'] else ''}>{name}</option>" for name in SHIPPING
    )
    values = {name: html.escape(order[name]) for name in FIELDS}
    listed = "".join(f"<li>{html.escape(problem)}</li>" for problem in problems)
    return _page(supplier, "order.html").safe_substitute(
        values,
        supplier=html.escape(supplier),
        rows=rows,
        lines=line_inputs,
        options=options,
        problems=f"<ul class=problems>{listed}</ul>" if problems else "",
    )


def placed_page(portal: Portal, number: int, problem: str) -> str:
    record = portal.orders[number]
    order = record["order"]
    facts = [(name.replace("_", " ").capitalize(), order[name]) for name in FIELDS]
    facts += [
        (f"Line {n}", f"{line['packs']} × {line['article']}") for n, line in enumerate(order["lines"], 1)
    ]
    return _page(portal.supplier, "placed.html").safe_substitute(
        supplier=html.escape(portal.supplier),
        number=number,
        code=record["code"],
        facts="".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in facts),
        problem=f"<ul class=problems><li>{problem}</li></ul>" if problem else "",
    )


def released_page(portal: Portal, number: int) -> str:
    return _page(portal.supplier, "released.html").safe_substitute(
        supplier=html.escape(portal.supplier), code=portal.orders[number]["code"]
    )


def _page(title: str, name: str) -> Template:
    frame = Template((HERE / "frame.html").read_text(encoding="utf-8"))
    body = (HERE / name).read_text(encoding="utf-8")
    return Template(frame.safe_substitute(title=html.escape(title), body=body))


class Handler(BaseHTTPRequestHandler):
    portal: Portal

    def do_GET(self) -> None:
        if self.path == "/":
            self._order_page(normalise({}), [])
        elif self.path == "/shown":
            self.portal.shown.set()
            self._answer("")
        elif self.path == "/opened":
            self._answer("", 200 if self.portal.shown.wait(_FIRST_LOOK) else 504)
        else:
            self._answer("Not found", 404)

    def do_POST(self) -> None:
        length = min(int(self.headers.get("Content-Length") or 0), _MAX_BODY)
        form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode("utf-8", "replace")))
        number = int(form["order"]) if form.get("order", "").isdecimal() else -1
        known = 0 <= number < len(self.portal.orders)
        if self.path == "/place":
            self._place(normalise(form))
        elif self.path == "/change" and known:
            self._order_page(self.portal.orders[number]["order"], [])
        elif self.path == "/release" and known:
            self._release(number, form.get("code", ""))
        else:
            self._answer("Not found", 404)

    def _place(self, order: Order) -> None:
        problems = objections(order, self.portal.catalogue)
        if problems:
            self._order_page(order, problems)
        else:
            self._answer(placed_page(self.portal, self.portal.place(order), ""))

    def _order_page(self, order: Order, problems: list[str]) -> None:
        self._answer(order_page(self.portal.supplier, self.portal.catalogue, order, problems))

    def _release(self, number: int, code: str) -> None:
        if self.portal.release(number, code):
            self._answer(released_page(self.portal, number))
        else:
            self._answer(placed_page(self.portal, number, "This is not the confirmation code of the order."))

    def _answer(self, text: str, status: int = 200) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


def serve() -> None:
    """Listen, then go on in the background: whoever started this may connect as soon as it returns."""
    Handler.portal = Portal(HERE)
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    if os.fork():
        os._exit(0)
    os.setsid()
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silence, stream)
    server.serve_forever()


def opened() -> None:
    """Return once a browser has shown the form; fails after `_FIRST_LOOK` seconds."""
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/opened", timeout=_FIRST_LOOK + 10):
        return


if __name__ == "__main__":
    {"serve": serve, "opened": opened}[sys.argv[1]]()
