"""XML from strangers: no entities, no network, no unbounded trees."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from practicum.verifiers.bounds import read_bytes
from practicum.verifiers.errors import Unreadable

MAX_BYTES = 64 << 20


def parse(path: Path, data: bytes | None = None) -> etree._Element:
    """The root element of `path`, or of `data` read from it. Raises `Unreadable`."""
    text = read_bytes(path, limit=MAX_BYTES) if data is None else data
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(text, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(path, f"not well-formed XML: {error}") from error
    if root is None:
        raise Unreadable(path, "XML without a root element")
    internal = root.getroottree().docinfo.internalDTD
    if internal is not None and any(internal.iterentities()):  # type: ignore[union-attr] # the stubs lack it
        raise Unreadable(path, "declares entities, which are not expanded")
    return root


def local(element: etree._Element) -> str:
    """The tag without its namespace; empty for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
