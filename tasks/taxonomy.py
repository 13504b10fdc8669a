"""The map of work: 13 clusters, 55 subdomains. `taxonomy.json` carries its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec


@dataclass(frozen=True, slots=True)
class Cluster:
    title: str
    subdomains: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Clusters by the short name that task ids begin with."""

    source: str
    clusters: Mapping[str, Cluster]


@cache
def taxonomy() -> Taxonomy:
    return msgspec.json.decode(Path(__file__).with_name("taxonomy.json").read_bytes(), type=Taxonomy)
