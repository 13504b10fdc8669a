"""A report for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from practicum.controller.report import Report, Row, Versus
from practicum.controller.show import duration, money, plain, share
from practicum.controller.statistics.intervals import Estimate
from practicum.controller.summary import Counts

TITLES = {
    "all": "All tasks",
    "tier": "By tier",
    "cluster": "By cluster",
    "subdomain": "By subdomain",
    "faults": "By injected faults",
}


def render(report: Report, out: Console) -> None:
    out.print(f"Run {report.run} of {report.created}")
    out.print(sentence(report))
    out.print(bill_line(report))
    for dimension, title in TITLES.items():
        rows = report.of(dimension)
        if rows and not (dimension in ("cluster", "tier") and _trivial(rows)):
            out.print(f"\n[bold]{title}[/bold] (rates with 90 % intervals, tasks as units)")
            out.print(rates_table(rows))
    _render_designed(report, out)
    _render_repeats(report, out)
    _render_versus(report, out)
    for line in report.robustness:
        levels = ", ".join(f"{level} {share(rate)}" for level, rate in sorted(line.rates.items()))
        ratio = "–" if line.ratio is None else f"{line.ratio:.2f}"
        if line.interval is not None:
            ratio += f", 90 % {line.interval.low:.2f}–{line.interval.high:.2f}, {line.pairs} common questions"
        out.print(f"\nRobustness of {plain(line.agent)}: R = {ratio} ({levels})")
    for note in report.notes:
        out.print(f"• {note}", style="yellow")


def sentence(report: Report) -> str:
    counts = {key: value for key, value in report.counts.items() if key != "planned"}
    return Counts(**counts).sentence()


def bill_line(report: Report) -> str:
    bill = report.bill
    cap = "" if bill.cap is None else f" of {money(bill.cap)}"
    unsettled = f", at most {money(bill.unsettled)} more unsettled" if bill.unsettled else ""
    machine = duration(bill.machine_ms / 1000)
    return f"${money(bill.nano_dollars)}{cap}{unsettled}; {bill.tokens:,} tokens; {machine} of machines"


def rates_table(rows: Iterable[Row]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("part", "agent"):
        table.add_column(name, overflow="fold")
    for name in ("scored", "tasks", "passed", "mean score", "dollars", "time", "GUI"):
        table.add_column(name, justify="right")
    for row in rows:
        unknown = f" + {row.unknown_costs} unknown" if row.unknown_costs else ""
        table.add_row(
            plain(row.value),
            plain(row.agent),
            f"{row.counts['scored']}/{row.counts['planned']}",
            str(row.passed.tasks if row.passed else 0),
            estimate_cell(row.passed),
            estimate_cell(row.score),
            money(row.nano_dollars) + unknown,
            duration(row.seconds),
            share(row.gui_share),
        )
    return table


def estimate_cell(estimate: Estimate | None) -> str:
    """`50.0 % (28–72)`: never a bare mean."""
    if estimate is None:
        return "–"
    interval = estimate.interval
    return f"{share(estimate.mean)} ({100 * interval.low:.0f}–{100 * interval.high:.0f})"


def _render_designed(report: Report, out: Console) -> None:
    if not report.designed:
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("tier", "agent", "whole plan", "90 % interval", "asked"):
        table.add_column(name, justify="left" if name in ("tier", "agent") else "right")
    for one in report.designed:
        low, high = one.interval.low, one.interval.high
        table.add_row(
            one.tier,
            plain(" − ".join(one.agents)),
            f"{100 * min(1.0, max(-1.0, one.mean)):.1f}",
            f"{100 * low:.1f} … {100 * high:.1f}",
            f"{one.asked} of {one.questions}",
        )
    out.print(
        "\n[bold]The whole plan, estimated[/bold] (pass rates in points, weighted for the choice of trials)"
    )
    out.print(table)


def _render_repeats(report: Report, out: Console) -> None:
    rows = [row for row in report.of("all") if row.repeats]
    if not rows:
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("agent", "k", "pass@k", "pass^k", "tasks"):
        table.add_column(name, justify="left" if name == "agent" else "right")
    for row in rows:
        for repeats in row.repeats:
            table.add_row(
                plain(row.agent),
                str(repeats.k),
                share(repeats.once),
                share(repeats.always),
                str(repeats.tasks),
            )
    out.print("\n[bold]Repeated tries of a task[/bold]")
    out.print(table)


def _render_versus(report: Report, out: Console) -> None:
    if not report.versus:
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    columns = ("pair", "measure", "difference", "95 % interval", "p", "adjusted p", "detectable", "questions")
    for name in columns:
        table.add_column(name, justify="left" if name in ("pair", "measure") else "right")
    for versus in _telling(report.versus):
        found = versus.comparison
        table.add_row(
            f"{plain(versus.first)} − {plain(versus.second)}",
            versus.measure,
            f"{100 * found.effect:+.1f}",
            f"{100 * found.interval.low:+.1f} … {100 * found.interval.high:+.1f}",
            f"{found.p:.3f}",
            f"{versus.p_adjusted:.3f}",
            f"{100 * found.detectable:.1f}",
            f"{found.pairs} in {found.clusters} tasks",
        )
    out.print("\n[bold]Agents compared on the same questions[/bold] (points; detectable with 80 % power)")
    out.print(table)


def _telling(versus: Sequence[Versus]) -> Iterable[Versus]:
    """Scores are compared only where they say something else than passing does."""
    effects = {(one.first, one.second): one.comparison.effect for one in versus if one.measure == "pass"}
    for one in versus:
        if one.measure == "pass" or one.comparison.effect != effects.get((one.first, one.second)):
            yield one


def _trivial(rows: Iterable[Row]) -> bool:
    """One part only: it would repeat the table of all tasks."""
    return len({row.value for row in rows}) == 1
