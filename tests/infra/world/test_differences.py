"""Each kind of difference is told from the others, and what is no difference is none."""

from __future__ import annotations

from typing import Any

import pytest

from practicum.infra.environment import ToolErrorKind, ToolResult
from practicum.infra.faults.operations import Access
from practicum.infra.world.differences import Kind, Past, compare
from practicum.infra.world.engine import WorldEnvironment
from practicum.infra.world.metamorphic import examine
from practicum.infra.world.tables import Change

TRUE: list[dict[str, Any]] = [
    {"id": "ink", "stock": 4, "title": "Ink"},
    {"id": "pen", "stock": 8, "title": "Pen"},
]


def listed(rows: list[dict[str, Any]], **more: Any) -> ToolResult:
    return ToolResult(data={"revision": 1, "total": len(rows), "items": rows, **more})


def edited(**fields: Any) -> list[dict[str, Any]]:
    return [TRUE[0], {**TRUE[1], **fields}]


REFUSED = ToolResult(text="no", error=ToolErrorKind.REFUSED)


@pytest.mark.parametrize(
    ("truth", "said", "kinds"),
    [
        (listed(TRUE), listed(TRUE), []),
        (listed(TRUE), listed(TRUE[::-1]), []),
        (REFUSED, REFUSED, []),
        (listed(TRUE), listed([*TRUE, {**TRUE[0], "id": "new"}]), [Kind.FABRICATION]),
        (REFUSED, listed(TRUE), [Kind.FABRICATION]),
        (listed(TRUE), listed(TRUE[:1]), [Kind.OMISSION]),
        (listed(TRUE), REFUSED, [Kind.RULE_INVENTION]),
        (listed(TRUE), listed(edited(stock=7)), [Kind.DRIFT]),
        (listed(TRUE), listed(edited(stock=10)), [Kind.LOST_WRITE]),
        (listed(TRUE), listed(TRUE, secret=1), [Kind.LEAK]),
        (listed(TRUE), listed(edited(cost=3)), [Kind.LEAK]),
        (listed(TRUE), listed([TRUE[0], {"id": "pen", "stock": 8}]), [Kind.SCHEMA_BREAK]),
        (listed(TRUE), listed(edited(stock="8")), [Kind.SCHEMA_BREAK]),
        (listed(TRUE), ToolResult(data={"revision": 1}), [Kind.SCHEMA_BREAK]),
    ],
)
def test_every_kind_is_told_apart(
    shop: WorldEnvironment, truth: ToolResult, said: ToolResult, kinds: list[Kind]
) -> None:
    past = Past()
    past.remember(
        [
            Change(
                "Good",
                "pen",
                {"id": "pen", "stock": 10, "title": "Pen"},
                {"id": "pen", "stock": 8, "title": "Pen"},
            )
        ]
    )
    tool = shop.rules.tools["list_goods"]
    assert [found.kind for found in compare(tool, truth, said, past)] == kinds


def test_an_allowed_write_that_must_be_refused_is_a_rule_left_out(shop: WorldEnvironment) -> None:
    tool = shop.rules.tools["sell"]
    assert tool.access is Access.WRITE
    said = ToolResult(data={"revision": 1, "record": {"id": "S-1", "good": "pen", "amount": 99}})
    assert [found.kind for found in compare(tool, REFUSED, said, Past())] == [Kind.RULE_OMISSION]


def test_the_true_world_contradicts_itself_nowhere(shop: WorldEnvironment) -> None:
    found = examine(shop.rules, lambda: shop)
    assert found.checks == 5
    assert found.violations == ()
