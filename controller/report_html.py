"""A report as one page that loads nothing: tables, and plots beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from practicum.controller.plots import Dot, Spot, scatter, whiskers
from practicum.controller.prices import NANO
from practicum.controller.report import Report, Row
from practicum.controller.report_text import TITLES, bill_line, estimate_cell, sentence
from practicum.controller.show import duration, money, plain, share

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2226; --soft: #6a737b; --line: #d7dce0; --page: #fcfcfb;
  --c0: #2f6db3; --c1: #c2571a; --c2: #2f8f5b; --c3: #8a4fb0; --c4: #a8841a; --c5: #b23a5e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ea; --soft: #98a2ab; --line: #3a4149;
  --page: #16191c;
  --c0: #7ab0ec; --c1: #ef9a63; --c2: #74cf9c; --c3: #c695e6; --c4: #dcbf63; --c5: #ec8aa6; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 2rem auto;
  max-width: 1000px; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; } p.note { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
svg { width: 100%; max-width: 720px; font: 12px system-ui, sans-serif; } svg text { fill: var(--ink); }
.axis, .zero { stroke: var(--soft); } .zero { stroke-dasharray: 3 3; } .grid { stroke: var(--line); }
.whisker { stroke-width: 2; opacity: .7; }
""" + "".join(f".s{n} {{ fill: var(--c{n}); stroke: var(--c{n}); }}\n" for n in range(6))


def render(report: Report) -> str:
    parts = [
        f"<h1>Run {escape(report.run)}</h1>",
        f"<p>{escape(report.created)}<br>{escape(sentence(report))}<br>{escape(bill_line(report))}</p>",
        *(f'<p class="note">{escape(note)}</p>' for note in report.notes),
        *_rates(report),
        *_designed(report),
        *_costs(report),
        *_forest(report),
    ]
    head = f'<meta charset="utf-8"><title>Run {escape(report.run)}</title><style>{_STYLE}</style>'
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return (
        f'<!doctype html><html lang="en"><head>{head}{viewport}</head><body>{"".join(parts)}</body></html>\n'
    )


def _rates(report: Report) -> Iterable[str]:
    agents = list(dict.fromkeys(row.agent for row in report.rows))
    for dimension, title in TITLES.items():
        rows = report.of(dimension)
        if not rows:
            continue
        yield f"<h2>{title}</h2>"
        if dimension in ("all", "tier", "faults"):
            yield rates_plot(f"Pass rate, {title.lower()}", rows, agents)
        yield _table(rows)


def rates_plot(title: str, rows: Sequence[Row], agents: Sequence[str]) -> str:
    """Pass rates with 90 % intervals, one colour an agent."""
    dots = [
        Dot(
            label=plain(row.agent if row.value == "all" else f"{row.value}, {row.agent}", 34),
            value=100 * row.passed.mean,
            low=100 * row.passed.interval.low,
            high=100 * row.passed.interval.high,
            text=estimate_cell(row.passed),
            series=agents.index(row.agent),
        )
        for row in rows
        if row.passed is not None
    ]
    return whiskers(title, dots, 0, 100, " %")


def cost_plot(report: Report) -> str:
    """Mean dollars a trial against the pass rate."""
    agents = list(dict.fromkeys(row.agent for row in report.rows))
    spots = [
        Spot(
            label=plain(row.agent, 30),
            x=row.nano_dollars / NANO / row.counts["scored"],
            y=row.passed.mean,
            low=row.passed.interval.low,
            high=row.passed.interval.high,
            series=agents.index(row.agent),
        )
        for row in report.of("all")
        if row.passed is not None
    ]
    return scatter("Cost against pass rate", spots, "dollars a trial", "passed")


def forest_plot(report: Report) -> str:
    """Differences in pass rate with 95 % intervals."""
    dots = [
        Dot(
            label=plain(f"{one.first} − {one.second}", 34),
            value=100 * one.comparison.effect,
            low=100 * one.comparison.interval.low,
            high=100 * one.comparison.interval.high,
            text=f"{100 * one.comparison.effect:+.1f}, p = {one.p_adjusted:.3f}",
        )
        for one in report.versus
        if one.measure == "pass"
    ]
    reach = max(10.0, *(max(abs(dot.low), abs(dot.high)) for dot in dots)) if dots else 10.0
    return whiskers("Differences in pass rate", dots, -reach, reach, "")


def _designed(report: Report) -> Iterable[str]:
    if report.designed:
        yield "<h2>The whole plan, estimated</h2><p>Weighted for how the trials were chosen.</p>"
        yield _cells(
            ("tier", "agent", "points", "90 % interval", "asked"),
            (
                (
                    one.tier,
                    " − ".join(one.agents),
                    f"{100 * one.mean:.1f}",
                    f"{100 * one.interval.low:.1f} … {100 * one.interval.high:.1f}",
                    f"{one.asked} of {one.questions}",
                )
                for one in report.designed
            ),
        )


def _costs(report: Report) -> Iterable[str]:
    if any(row.nano_dollars for row in report.of("all")):
        yield "<h2>Cost against pass rate</h2>"
        yield cost_plot(report)


def _forest(report: Report) -> Iterable[str]:
    if report.versus:
        yield "<h2>Agents compared on the same questions</h2>"
        yield "<p>Points of pass rate, 95 % intervals, p adjusted for the number of comparisons.</p>"
        yield forest_plot(report)


def _table(rows: Iterable[Row]) -> str:
    return _cells(
        ("part", "agent", "scored", "tasks", "passed", "mean score", "dollars", "time", "GUI"),
        (
            (
                row.value,
                row.agent,
                f"{row.counts['scored']}/{row.counts['planned']}",
                str(row.passed.tasks if row.passed else 0),
                estimate_cell(row.passed),
                estimate_cell(row.score),
                money(row.nano_dollars) + (f" + {row.unknown_costs} unknown" if row.unknown_costs else ""),
                duration(row.seconds),
                share(row.gui_share),
            )
            for row in rows
        ),
    )


def _cells(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(plain(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
