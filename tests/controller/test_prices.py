"""Money in integers, prices that are known or refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.agents.agent import Usage
from practicum.controller.errors import BadRequest
from practicum.controller.prices import FREE, NANO, UnknownPrice, dollars, parse, per_million, shipped

buckets = st.integers(0, 10**7)


def test_every_shipped_price_is_dated_and_says_where_it_was_read():
    prices = shipped().models.values()
    assert prices
    assert all(price.dated and price.source for price in prices)


@given(buckets, buckets, buckets, buckets, buckets)
def test_a_bill_is_exact(fresh, out, read, write, long):
    price = shipped().price("claude-opus-4-6")
    usage = Usage(input=fresh, output=out, cache_read=read, cache_write=write, cache_write_long=long)
    per_token = {"5": fresh, "25": out, "0.5": read, "6.25": write, "10": long}
    exact = sum(Decimal(dollar) * tokens for dollar, tokens in per_token.items()) * NANO / 10**6
    assert price.cost(usage) == exact


@given(buckets, st.sampled_from(["input", "output", "cache_read", "cache_write", "cache_write_long"]))
def test_one_unknown_bucket_makes_the_cost_unknown(tokens, bucket):
    usage = Usage(**{"input": tokens, "output": tokens, bucket: None})
    assert per_million(1, 2).cost(usage) is None


def test_reasoning_is_part_of_the_output_and_not_billed_again():
    price = per_million(1, 2)
    assert price.cost(Usage(input=0, output=100, reasoning=80)) == price.cost(Usage(input=0, output=100))


def test_a_model_without_a_price_is_refused_with_its_neighbour():
    with pytest.raises(UnknownPrice, match=r"nearest is 'gpt-5\.2'"):
        shipped().price("gpt-5.22")


def test_a_declared_price_holds_only_for_models_that_have_none():
    table = shipped().declaring(FREE)
    assert table.price("a-local-model") is FREE
    assert table.price("gpt-5").input == 1250


@pytest.mark.parametrize(
    "text",
    [
        '[[model]]\nnames = ["x"]\ninput = 1.0001\noutput = 1',
        '[[model]]\nnames = ["x"]\ninput = -1\noutput = 1',
        '[[model]]\nnames = ["x"]\ninput = 1',
        '[[model]]\nnames = ["x"]\ninput = 1\noutput = 1\ncached = 1',
        "[machine]\ncontainer = 1",
    ],
)
def test_a_table_that_would_be_misread_is_refused(text):
    with pytest.raises(BadRequest):
        parse(text)


@given(st.decimals(min_value=0, max_value=10**6, places=9))
def test_dollars_become_whole_nano_dollars(amount):
    assert Decimal(dollars(amount)) == amount * NANO


def test_machine_time_is_rounded_up_and_only_once():
    table = parse("[machines]\ncontainer = 3.6")
    assert table.machine_cost("container", 1) == 1000
    assert table.machine_cost("vm", 10**9) == 0
