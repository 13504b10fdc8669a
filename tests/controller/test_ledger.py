"""The book: caps that hold with any number of writers, and totals that follow from the entries."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from practicum.agents.agent import Ending, ExamOver, Usage
from practicum.controller.ledger import RUN, Ledger, OverCap, Owner, Total, TrialMeter, Unit
from practicum.controller.prices import PriceTable, per_million

MONEY = Unit.NANO_DOLLARS
ANN, BOB = Owner("t1", 1, "ann"), Owner("t2", 1, "bob")


@pytest.fixture
def ledger(tmp_path):
    with closing(Ledger(tmp_path / "ledger.db")) as book:
        yield book


def test_a_reservation_that_does_not_fit_reserves_nothing(ledger):
    ledger.set_cap(RUN, MONEY, 10)
    ledger.reserve(ANN, "m", {MONEY: 7})
    with pytest.raises(OverCap) as over:
        ledger.reserve(BOB, "m", {MONEY: 4})
    assert (over.value.scope, over.value.unit) == (RUN, MONEY)
    assert ledger.total(RUN, MONEY) == Total(0, 7)
    ledger.reserve(BOB, "m", {MONEY: 3})


def test_a_cap_of_nothing_allows_nothing_and_no_cap_allows_all(ledger):
    ledger.set_cap("agent:ann", MONEY, 0)
    with pytest.raises(OverCap):
        ledger.reserve(ANN, "m", {MONEY: 1})
    ledger.reserve(BOB, "m", {MONEY: 10**15})


def test_nothing_is_billed_twice(ledger):
    reservation = ledger.reserve(ANN, "m", {MONEY: 5})
    ledger.settle(reservation, ANN, {MONEY: 5})
    with pytest.raises(sqlite3.IntegrityError):
        ledger.settle(reservation, ANN, {MONEY: 5})
    assert ledger.total(RUN, MONEY) == Total(5, 0)


def test_what_the_provider_did_not_say_stays_held(ledger):
    reservation = ledger.reserve(ANN, "m", {MONEY: 5, Unit.TOKENS: 50})
    ledger.settle(reservation, ANN, {MONEY: None, Unit.TOKENS: 20})
    assert ledger.total(RUN, MONEY) == Total(0, 5)
    assert ledger.total(RUN, Unit.TOKENS) == Total(20, 0)


@pytest.mark.parametrize("table", ["reservations", "settlements", "caps"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET at = ''"])
def test_entries_are_for_ever(ledger, tmp_path, table, change):
    ledger.set_cap(RUN, MONEY, 10)
    ledger.settle(ledger.reserve(ANN, "m", {MONEY: 5}), ANN, {MONEY: 5})
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as other, pytest.raises(sqlite3.IntegrityError):
        other.execute(change.format(table))


def test_many_writers_together_never_pass_the_cap(tmp_path):
    path = tmp_path / "ledger.db"
    with closing(Ledger(path)) as book:
        book.set_cap(RUN, MONEY, 100)

    def spend(writer: int) -> int:
        spent, owner = 0, Owner(f"t{writer}", 1, "ann")
        with closing(Ledger(path)) as book:
            for _ in range(20):
                try:
                    reservation = book.reserve(owner, "m", {MONEY: 7})
                except OverCap:
                    break
                book.settle(reservation, owner, {MONEY: 3})
                spent += 3
        return spent

    with ThreadPoolExecutor(8) as pool:
        spent = sum(pool.map(spend, range(8)))
    with closing(Ledger(path)) as book:
        assert book.total(RUN, MONEY) == Total(spent, 0)
    assert 100 - 8 * 7 <= spent <= 100


def test_a_refusal_stands_until_a_cap_is_set(ledger):
    ledger.set_cap(RUN, MONEY, 1)
    with pytest.raises(OverCap):
        ledger.reserve(ANN, "m", {MONEY: 2})
    assert ledger.exhausted("ann")
    assert not ledger.exhausted("bob")
    ledger.set_cap(RUN, MONEY, 5)
    assert not ledger.exhausted("ann")


def test_a_trial_over_its_own_cap_exhausts_nobody_else(ledger):
    meter = TrialMeter(ledger, PriceTable({"m": per_million(1, 1)}), ANN, {Unit.TOKENS: 10})
    with pytest.raises(ExamOver) as over:
        meter.reserve("m", Usage(input=8, output=8), "agent")
    assert over.value.ending is Ending.TOKENS
    assert not ledger.exhausted("ann")


def test_released_money_can_be_spent_by_somebody_else(ledger):
    ledger.set_cap(RUN, MONEY, 10_000)
    meter = TrialMeter(ledger, PriceTable({"m": per_million(1, 1)}), ANN, {})
    bill = meter.reserve("m", Usage(input=10, output=0), "agent")
    with pytest.raises(ExamOver):
        meter.reserve("m", Usage(input=1, output=0), "agent")
    bill.release()
    assert meter.reserve("m", Usage(input=10, output=0), "agent").charge(Usage(input=1, output=2)) == 3000


class Book(RuleBasedStateMachine):
    """Any interleaving of owners, reservations, bills, losses and caps against plain arithmetic."""

    owners = tuple(Owner(f"t{n}", n % 2 + 1, agent) for n, agent in enumerate(["ann", "bob", "ann"]))

    @initialize()
    def open(self):
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "ledger.db"
        self.ledger = Ledger(self.path)
        self.caps: dict[str, int] = {}
        self.spent: dict[str, int] = defaultdict(int)
        self.held: dict[int, tuple[Owner, int]] = {}
        self.lost: list[tuple[Owner, int]] = []

    def in_scope(self, scope):
        live = [amount for owner, amount in [*self.held.values(), *self.lost] if scope in owner.scopes()]
        return self.spent[scope], sum(live)

    @rule(scope=st.sampled_from([RUN, "agent:ann", "agent:bob"]), amount=st.integers(0, 60))
    def cap(self, scope, amount):
        self.ledger.set_cap(scope, MONEY, amount)
        self.caps[scope] = amount

    @rule(owner=st.sampled_from(owners), amount=st.integers(0, 30))
    def reserve(self, owner, amount):
        fits = all(
            sum(self.in_scope(scope)) + amount <= self.caps.get(scope, 10**9) for scope in owner.scopes()
        )
        try:
            self.held[self.ledger.reserve(owner, "m", {MONEY: amount})] = (owner, amount)
        except OverCap:
            assert not fits
        else:
            assert fits

    @precondition(lambda self: self.held)
    @rule(data=st.data(), share=st.floats(0, 1))
    def settle(self, data, share):
        reservation = data.draw(st.sampled_from(sorted(self.held)))
        owner, amount = self.held.pop(reservation)
        used = int(amount * share)
        self.ledger.settle(reservation, owner, {MONEY: used})
        for scope in owner.scopes():
            self.spent[scope] += used

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def lose(self, data):
        """The provider does not say."""
        reservation = data.draw(st.sampled_from(sorted(self.held)))
        owner, amount = self.held.pop(reservation)
        self.ledger.settle(reservation, owner, {MONEY: None})
        self.lost.append((owner, amount))

    @rule()
    def crash(self):
        """Everybody dies: what was reserved is never settled, and the book is opened again."""
        self.lost += self.held.values()
        self.held.clear()
        self.ledger.close()
        self.ledger = Ledger(self.path)

    @invariant()
    def the_totals_are_right(self):
        recomputed = self.ledger.recompute()
        for scope in {RUN, *(scope for owner in self.owners for scope in owner.scopes())}:
            total = self.ledger.total(scope, MONEY)
            assert (total.spent, total.held) == self.in_scope(scope)
            assert recomputed.get((scope, MONEY), Total(0, 0)) == total

    def teardown(self):
        self.ledger.close()
        self.folder.cleanup()


Book.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestBook = Book.TestCase
