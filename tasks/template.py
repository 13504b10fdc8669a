"""Instructions are templates that must fit their facts exactly, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from practicum.tasks.errors import BadTemplate


def fill(text: str, facts: Mapping[str, str]) -> str:
    """Replace each `${name}`; `$$` is a dollar sign.

    Raises `BadTemplate` for a placeholder without a fact and for a fact that the text never says.
    """
    template = Template(text)
    if not template.is_valid():
        raise BadTemplate("a `$` starts no placeholder; write `$$` for a dollar sign")
    asked = set(template.get_identifiers())
    unknown, unused = sorted(asked - facts.keys()), sorted(facts.keys() - asked)
    if unknown:
        raise BadTemplate(f"placeholders without a fact: {', '.join(unknown)}")
    if unused:
        raise BadTemplate(f"facts that the text never says: {', '.join(unused)}")
    return template.substitute(facts)
