"""What the stations know, and how each writes it down."""

from __future__ import annotations

import csv
import datetime
import io
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random

CM_PER_INCH = Decimal("2.54")
COLUMNS = ("sample", "date", "collector", "site", "depth", "pH")


@dataclass(frozen=True, slots=True)
class Sample:
    """Depth in hundredths of an inch × 2.54, so that both units write it exactly; pH in tenths."""

    sample_id: str
    collected: datetime.date
    collector: str
    site: str
    inches: Decimal
    ph: Decimal | None

    @property
    def station(self) -> str:
        return self.sample_id[:2]

    @property
    def depth_cm(self) -> Decimal:
        return self.inches * CM_PER_INCH


@dataclass(frozen=True, slots=True)
class Station:
    """A station's habits; `date` is a strftime format, `missing` how it writes that there is no value."""

    code: str
    name: str
    file: str
    encoding: str
    encoding_said: str
    separator: str
    separator_said: str
    date: str
    date_said: str
    decimal: str
    inches: bool
    missing: str
    collectors: tuple[str, ...]
    sites: tuple[str, ...]


STATIONS = (
    Station(
        *("NF", "Nordfjord", "nordfjord.csv", "cp1252", "Windows-1252", ";", "semicolon"),
        *("%d.%m.%Y", "day.month.year", ",", False, ""),
        ("Åse Bjørndal", "Sølvi Nærø", "Günther Weiß", "Pål Østby"),
        ("Hjelle, nedre åker", "Bødal", "Lærdal – øst", "Stryn brua"),
    ),
    Station(
        *("PO", "Porto", "porto.csv", "utf-8-sig", "UTF-8 with byte order mark", ",", "comma"),
        *("%d/%m/%Y", "day/month/year", ".", False, "n/a"),
        ("Inês Gonçalves", "João Araújo", "Conceição Vilaça", "Nuno Brandão"),
        ("Paços, talhão 3", "Sertã", "Póvoa do Lanhoso", "Quinta da Mó"),
    ),
    Station(
        *("BO", "Boulder", "boulder.csv", "utf-8", "UTF-8", ",", "comma"),
        *("%m/%d/%Y", "month/day/year", ".", True, "-"),
        ("Dana O'Neill", "Lee Tsosie", 'Rob "Buck" Hale', "Amy Ruiz"),
        ("Left Hand, N field", "Lyons", "Nederland, plot 7", "Ward"),
    ),
    Station(
        *("SE", "Sendai", "sendai.tsv", "cp932", "Shift JIS (Windows-31J)", "\t", "tab"),
        *("%Y/%m/%d", "year/month/day", ".", False, "n/a"),
        ("佐藤 美咲", "髙橋 健", "小野寺 結衣", "渡邊 隆"),
        ("青葉区 上愛子", "名取 第2圃場", "岩沼①", "蔵王 東麓"),
    ),
)


def survey(rng: Random, per_station: int) -> list[Sample]:
    """Days up to the twelfth are common, so that a wrong order of day and month is felt."""
    samples: list[Sample] = []
    for station in STATIONS:
        numbers = sorted(rng.sample(range(100, 999), per_station))
        for position, number in enumerate(numbers):
            day = rng.randrange(1, 13) if rng.random() < 0.6 else rng.randrange(13, 29)
            gone = position == per_station // 2 or rng.random() < 0.08
            samples.append(
                Sample(
                    f"{station.code}-{number:04d}",
                    datetime.date(rng.choice((2024, 2025)), rng.randrange(1, 13), day),
                    rng.choice(station.collectors),
                    rng.choice(station.sites),
                    Decimal(rng.randrange(200, 4800)) / 100,
                    None if gone else Decimal(rng.randrange(38, 89)) / 10,
                )
            )
    return samples


def carried(rng: Random, samples: list[Sample], count: int) -> list[tuple[Sample, Station]]:
    """Samples that a second station exports as well, as far as its character set can write them."""
    pairs: list[tuple[Sample, Station]] = []
    for sample in rng.sample(samples, len(samples)):
        others = [s for s in STATIONS if s.code != sample.station and _writes(s, sample)]
        if others and len(pairs) < count:
            pairs.append((sample, rng.choice(others)))
    return pairs


def export(station: Station, samples: list[Sample], path: Path) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=station.separator, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(station, sample) for sample in samples)
    path.write_bytes(text.getvalue().encode(station.encoding))


def readme() -> str:
    lines = ["How the stations write their exports. Every file has a header line.", ""]
    for s in STATIONS:
        decimal, unit = "comma" if s.decimal == "," else "point", "inches" if s.inches else "centimetres"
        lines += [
            f"{s.file} ({s.name}, {s.code})",
            f"  encoding: {s.encoding_said}; separator: {s.separator_said}; quotes where needed",
            f"  dates: {s.date_said}; decimal {decimal}; depth in {unit}",
            f"  no pH measured: {s.missing or 'empty field'}",
            "",
        ]
    return "\n".join(lines)


def _row(station: Station, sample: Sample) -> list[str]:
    depth = f"{sample.inches:.2f}" if station.inches else f"{sample.depth_cm:.4f}".rstrip("0").rstrip(".")
    ph = station.missing if sample.ph is None else f"{sample.ph:.1f}"
    return [
        sample.sample_id,
        sample.collected.strftime(station.date),
        sample.collector,
        sample.site,
        depth.replace(".", station.decimal),
        ph.replace(".", station.decimal),
    ]


def _writes(station: Station, sample: Sample) -> bool:
    try:
        f"{sample.collector}{sample.site}".encode(station.encoding)
    except UnicodeEncodeError:
        return False
    return True
