"""Reports: pure functions of the records, for the terminal, for programs and for the browser."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import atif
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from practicum.agents.agent import Ending
from practicum.controller import report, report_html, report_text
from practicum.controller.atif import trajectory
from practicum.controller.errors import NothingScored
from practicum.controller.forecast import Past, forecast, history
from practicum.controller.outcome import FaultKind, Phase, Spent, Trial
from practicum.controller.plan import UNLIMITED
from practicum.controller.prices import per_million
from practicum.controller.show import encode
from practicum.controller.summary import Standing, Summary
from practicum.tasks.spec import Limits, Tier

TRIAL = Trial(
    id="",
    task="a",
    task_digest="",
    agent="ann",
    agent_digest="",
    environment_digest="",
    seed=0,
    repeat=0,
    tier=Tier.NEAR_TERM,
    cluster="c",
    subdomain="s",
    limits=UNLIMITED,
    desk_kind="fake",
)


def one(number: int, task: str, agent: str, standing: Standing, score: float, **spent) -> Summary:
    trial = replace(TRIAL, id=str(number), task=task, agent=agent, seed=number)
    if standing is not Standing.SCORED:
        fault = standing is Standing.FAULT
        return Summary(
            trial=trial,
            standing=standing,
            phase=Phase.DRIVE if fault else None,
            kind=FaultKind.DESK if fault else None,
        )
    return Summary(
        trial=trial,
        standing=standing,
        score=score,
        passed=score == 1.0,
        ending=Ending.DONE,
        spent=Spent(**spent),
    )


summary = st.builds(
    one,
    st.integers(0, 5),
    st.sampled_from("abc"),
    st.sampled_from(["ann", "bob"]),
    st.sampled_from(Standing),
    st.sampled_from([0.0, 0.5, 1.0]),
)


@given(st.lists(summary, min_size=1, max_size=20))
def test_totals_add_up_and_faults_move_no_mean(standing):
    rows = list(report.rows(standing))
    for dimension in ("all", "tier", "cluster", "subdomain"):
        parts = [row for row in rows if row.dimension == dimension]
        assert sum(row.counts["planned"] for row in parts) == len(standing)
    scored = [each for each in standing if each.standing is Standing.SCORED]
    assert [row.passed for row in report.rows(standing)] == [row.passed for row in rows]
    for row in (row for row in rows if row.dimension == "all"):
        mine = [each.score for each in scored if each.trial.agent == row.agent]
        assert (row.score is None) == (not mine)
        if mine:
            assert row.score.mean == pytest.approx(sum(mine) / len(mine))
            assert row.score.interval.low - 1e-9 <= row.score.mean <= row.score.interval.high + 1e-9


def test_unknown_costs_are_counted_and_not_taken_for_nothing():
    standing = [
        one(0, "a", "ann", Standing.SCORED, 1.0, nano_dollars=5),
        one(1, "b", "ann", Standing.SCORED, 1.0, nano_dollars=None, tokens=None),
    ]
    row = next(iter(report.rows(standing)))
    assert (row.nano_dollars, row.unknown_costs) == (5, 1)


def test_the_share_of_gui_actions_is_of_all_tool_calls():
    standing = [one(0, "a", "ann", Standing.SCORED, 1.0, tools={"computer": 3, "bash": 1})]
    assert next(iter(report.rows(standing))).gui_share == 0.75


def test_a_run_without_a_score_has_no_report(lab):
    run = lab.go("toys/moods/no-instance")
    with pytest.raises(NothingScored, match="1 planned = 0 scored \\+ 1 fault"):
        report.read(run)


@pytest.fixture(scope="module")
def run(labs, tmp_path_factory):
    return labs(tmp_path_factory.mktemp("report")).go(
        "toys/near-term/[0-1]", agents=("oracle", "spender:1:0.5"), seeds="0-1"
    )


def test_the_terminal_shows_rates_intervals_and_the_whole_sum(run):
    out = io.StringIO()
    report_text.render(report.read(run), Console(file=out, width=160))
    text = out.getvalue()
    assert "8 planned = 8 scored + 0 fault + 0 cancelled + 0 pending" in text
    assert "100.0 % (" in text
    assert "oracle − spender:1:0.5" in text
    assert "pass^k" in text


class Page(HTMLParser):
    """Collects what a page would load, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [value for name, value in attributes if name in ("src", "href", "data", "action")]


def test_the_page_loads_nothing_and_runs_nothing(run):
    page = Page(report_html.render(report.read(run)))
    assert page.loads == []
    assert "script" not in page.tags
    assert page.tags.count("svg") >= 3
    assert page.tags.count("table") >= 3


def test_what_agents_and_tasks_are_called_cannot_become_markup(run):
    hostile = "<script>alert(1)</script>\x1b[31m"
    found = report.read(run)
    rows = tuple(type(row)(**{**as_dict(row), "agent": hostile, "value": hostile}) for row in found.rows)
    page = report_html.render(type(found)(**{**as_dict(found), "rows": rows}))
    assert "<script>" not in page
    assert "\x1b" not in page


def as_dict(value) -> dict:
    return {name: getattr(value, name) for name in value.__struct_fields__}


def test_the_report_is_json_all_the_way(run):

    found = json.loads(encode(report.read(run)))
    assert {row["dimension"] for row in found["rows"]} == {"all", "tier", "cluster", "subdomain"}
    assert all(re.fullmatch(r"[\d-]+T[\d:.]+Z", found[key]) for key in ("created",))


@pytest.mark.parametrize("agent", ["oracle", "spender:1", "look-for-ever", "nop"])
def test_trajectories_are_valid_atif(lab, agent):
    run = lab.go("toys/near-term/0", agents=(agent,))
    attempt = run.trial(lab.only(run).trial.id).counting_attempt()
    document = atif.Trajectory.model_validate(trajectory(attempt))
    assert document.steps[0].source == "user"
    assert [step.step_id for step in document.steps] == list(range(1, len(document.steps) + 1))
    paths = [
        part.source.path
        for step in document.steps
        if step.observation
        for result in step.observation.results
        if isinstance(result.content, list)
        for part in result.content
        if part.source
    ]
    assert all((attempt.root / path).is_file() for path in paths)
    assert bool(paths) == (agent == "look-for-ever")
    if agent == "spender:1":
        assert document.final_metrics.total_cost_usd == pytest.approx(0.0014)


def planned(agent: str, count: int, **limits) -> list[Trial]:
    return [
        replace(TRIAL, id=str(n), task=str(n), agent=agent, limits=Limits(steps=None, seconds=None, **limits))
        for n in range(count)
    ]


def test_a_forecast_from_history_holds_the_bill(lab):
    run = lab.go("toys/near-term/[0-2]", agents=("spender:3",))
    found = forecast(planned("spender:3", 10), history(run.root), {"spender:3": per_million(1, 4)}, None)
    assert found.nano_dollars == pytest.approx(10 * 3 * 1_400_000)
    assert found.nano_dollars in found.interval


def test_without_history_the_limits_bound_the_bill_and_without_limits_it_is_unknown():
    price = {"ann": per_million(1, 4)}
    assert forecast(planned("ann", 4, nano_dollars=5), [], price, None).lines[0].most == 20
    by_tokens = forecast(planned("ann", 2, tokens=10), [], price, None)
    assert by_tokens.lines[0].most == 2 * 10 * 4000
    assert forecast(planned("ann", 2), [], price, None).nano_dollars is None
    assert forecast(planned("ann", 2), [], {"ann": None}, None).nano_dollars == 0


def test_a_budget_buys_what_it_can_pay_for():
    past = [Past("x", Tier.NEAR_TERM, "ann", 100, 1.0, passed=True)] * 5
    prices = {"ann": per_million(1, 1)}
    assert forecast(planned("ann", 10), past, prices, 450).affordable == 4
    assert forecast(planned("ann", 10), past, prices, 10**9).affordable == 10
