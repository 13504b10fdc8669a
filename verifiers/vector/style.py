"""Which paint an element gets: presentation attributes, style sheets, style attributes, inheritance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree
from PIL import ImageColor

from practicum.verifiers.xml import local

Rgb = tuple[int, int, int]

_INHERITED = frozenset(
    {
        "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "color", "font-size",
        "font-family", "font-weight", "font-style", "text-anchor", "visibility",
    }
)  # fmt: skip
_OWN = frozenset({"opacity", "display", "stop-color", "stop-opacity"})
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTOR = re.compile(r"(?P<tag>[a-zA-Z*][\w-]*|\*)?(?:#(?P<id>[\w-]+))?(?P<classes>(?:\.[\w-]+)*)")
_MAX_RULES = 2_000


@dataclass(frozen=True, slots=True)
class Rule:
    """A simple selector (tag, id, classes) and what it declares; rules with combinators are passed over."""

    tag: str
    id: str
    classes: frozenset[str]
    declarations: Mapping[str, str]

    @property
    def weight(self) -> tuple[int, int, int]:
        return (bool(self.id), len(self.classes), bool(self.tag))

    def matches(self, tag: str, identity: str, classes: frozenset[str]) -> bool:
        return (
            (not self.tag or self.tag == tag)
            and (not self.id or self.id == identity)
            and self.classes <= classes
        )


def rules(root: etree._Element) -> list[Rule]:
    found = []
    for element in root.iter():
        if local(element) == "style":
            sheet = _COMMENT.sub("", "".join(map(str, element.itertext())))
            for selectors, body in _RULE.findall(sheet):
                found += [rule for text in selectors.split(",") if (rule := _rule(text.strip(), body))]
    return sorted(found[:_MAX_RULES], key=lambda rule: rule.weight)


def _rule(selector: str, body: str) -> Rule | None:
    match = _SELECTOR.fullmatch(selector)
    if match is None:
        return None
    tag = match["tag"] or ""
    classes = frozenset(filter(None, match["classes"].split(".")))
    return Rule("" if tag == "*" else tag, match["id"] or "", classes, declarations(body))


def declarations(body: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in body.split(";"))
    return {
        name.strip().lower(): value.replace("!important", "").strip() for name, colon, value in pairs if colon
    }


def cascade(element: etree._Element, inherited: Mapping[str, str], sheet: list[Rule]) -> dict[str, str]:
    """The properties in force on an element whose parent has `inherited`."""
    own = {name: value for name in _INHERITED | _OWN if (value := element.get(name)) is not None}
    classes = frozenset((element.get("class") or "").split())
    for rule in sheet:
        if rule.matches(local(element), element.get("id") or "", classes):
            own |= rule.declarations
    own |= declarations(element.get("style") or "")
    result = {name: value for name, value in inherited.items() if name in _INHERITED}
    result |= {name: value for name, value in own.items() if value != "inherit"}
    result["opacity"] = str(fraction(own.get("opacity"), 1.0) * fraction(inherited.get("opacity"), 1.0))
    return result


def fraction(text: str | None, default: float) -> float:
    if text is None:
        return default
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        return default
    return min(1.0, max(0.0, value))


def colour(text: str) -> Rgb | None:
    """A CSS colour as sRGB; None for `none`, `transparent` and what is no colour."""
    try:
        channels = ImageColor.getrgb(text.strip().lower())
    except ValueError:
        return None
    return None if len(channels) == 4 and channels[3] == 0 else (channels[0], channels[1], channels[2])
