"""Tables beyond what the mutation kit shows: workbooks, live formulas, typed values, other containers."""

import datetime as dt
import shutil
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.verifiers.errors import BadSpec, Unreadable
from practicum.verifiers.tables import CellFact, Column, Decimal, Kind, TableSpec, verify, workbook
from practicum.verifiers.tables.values import readings, same

needs_office = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
HEADER = ["id", "name", "amount", "day"]
ROWS = [["001", "Ä", 33.0, dt.date(2024, 3, 1)], ["002", "b", 12.5, dt.date(2024, 3, 2)]]


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "reference.csv"
    lines = [",".join(HEADER)] + [f"{i},{n},{a},{d}" for i, n, a, d in ROWS]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A ledger as a library writes it: formulas without any cached value."""
    made = openpyxl.Workbook()
    data = made.active
    data.title = "Data"
    for row in (["item", "price"], ["a", 10.0], ["b", 2.5]):
        data.append(row)
    summary = made.create_sheet("Summary")
    summary["A1"], summary["B1"] = "total", "=SUM(Data!B2:B3)"
    summary["B2"], summary["B3"] = 12.5, "=ROUND(B1*1.19,2)"
    summary["B1"].number_format = "#,##0.00"
    path = tmp_path / "book.xlsx"
    made.save(path)
    return path


def test_a_workbook_says_what_a_csv_says(reference: Path, tmp_path: Path) -> None:
    """Numbers as numbers, dates as dates, text with its leading zeros."""
    made = openpyxl.Workbook()
    for row in (HEADER, *ROWS):
        made.active.append(row)
    made.save(tmp_path / "a.xlsx")
    assert verify(tmp_path / "a.xlsx", reference).failures() == ()


def test_parquet_says_what_a_csv_says(reference: Path, tmp_path: Path) -> None:
    """Columnar files are tables too."""
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = dict(zip(HEADER, map(list, zip(*ROWS, strict=True)), strict=True))
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    assert verify(tmp_path / "a.parquet", reference).failures() == ()


@needs_office
def test_an_open_document_says_what_a_csv_says(reference: Path, tmp_path: Path) -> None:
    """Re-saved by the other application."""
    made = openpyxl.Workbook()
    for row in (HEADER, *ROWS):
        made.active.append(row)
    made.save(tmp_path / "a.xlsx")
    (tmp_path / "work").mkdir()
    converted = workbook.convert(tmp_path / "a.xlsx", tmp_path / "work", "ods")
    assert verify(converted, reference).failures() == ()


@needs_office
class TestFormulas:
    def total(self, cell: str, **more: object) -> CellFact:
        return CellFact(name="total", sheet="summary", cell=cell, value=12.5, formula=True, **more)  # type: ignore[arg-type]

    def test_formulas_without_cached_values_are_calculated(self, book: Path, tmp_path: Path) -> None:
        """What a library wrote counts for what it calculates to, and its format is seen."""
        facts = (
            self.total("B1", number_format="#,##0.00"),
            CellFact(name="gross", sheet="Summary", cell="B3", value=14.88, tolerance=0.005),
        )
        assert verify(book, tmp_path, TableSpec(cells=facts)).failures() == ()

    def test_a_live_formula_follows_its_inputs(self, book: Path, tmp_path: Path) -> None:
        """Change an input, calculate again, and the total moves with it."""
        fact = self.total("B1", follows={"Data!B2": 20.0}, then=22.5)
        assert verify(book, tmp_path, TableSpec(cells=(fact,))).passed

    def test_a_constant_is_no_formula(self, book: Path, tmp_path: Path) -> None:
        """The right number typed in by hand is not what was asked for."""
        assert "total/formula" in verify(book, tmp_path, TableSpec(cells=(self.total("B2"),))).failures()

    def test_a_formula_that_only_looks_alive(self, book: Path, tmp_path: Path) -> None:
        """=12.5+0 is a formula and right, and does not follow."""
        made = openpyxl.load_workbook(book)
        made["Summary"]["B1"] = "=12.5+0"
        made.save(book)
        fact = self.total("B1", follows={"Data!B2": 20.0}, then=22.5)
        assert "total/follows" in verify(book, tmp_path, TableSpec(cells=(fact,))).failures()

    def test_a_formula_cannot_read_the_reference(self, book: Path, tmp_path: Path) -> None:
        """A link to a file beside it finds nothing: it is calculated where no other file is."""
        secret = tmp_path / "secret.csv"
        secret.write_text("12.5")
        made = openpyxl.load_workbook(book)
        made["Summary"]["B1"] = f"=INDIRECT(\"'file://{secret}'#$secret.A1\")"
        made.save(book)
        assert "total/value" in verify(book, tmp_path, TableSpec(cells=(self.total("B1"),))).failures()


class TestValues:
    @given(value=st.decimals(-(10**9), 10**9, places=3, allow_nan=False))
    def test_a_number_is_itself_however_written(self, value: object) -> None:
        """Plain, grouped, with a decimal comma, with blanks: the same number."""
        number = float(str(value))
        point, comma = f"{number:,.3f}", f"{number:,.3f}".translate(str.maketrans(",.", ".,"))
        column = Column(name="x", kind=Kind.NUMBER, tolerance=1e-6, relative=0.0)
        for text in (f"{number:.3f}", point, comma, point.replace(",", "\u202f"), f" {point} "):
            assert same(number, text, column)
        assert not same(number, f"{number + 0.001:.3f}", column)

    def test_an_ambiguous_number_has_both_readings_unless_told(self) -> None:
        """ "1,234" is 1234 and 1.234 until the spec says how decimals are written."""
        assert set(readings("1,234")) == {1234.0, 1.234}
        assert readings("1,234", Decimal.POINT) == (1234.0,)
        assert readings("1,234", Decimal.COMMA) == (1.234,)

    @pytest.mark.parametrize("text", ["", "abc", "1.2.3", "--1", "1e999999x", "9" * 1000, "0x10", "١٢٣x"])
    def test_what_is_no_number_has_no_reading(self, text: str) -> None:
        """Nothing is guessed."""
        assert readings(text) == ()

    def test_true_is_not_one_and_blank_is_not_zero(self) -> None:
        """Types are not coerced into agreement."""
        assert not same(1.0, True, Column(name="x"))
        assert not same(0, "", Column(name="x"))
        assert same(None, "  ", Column(name="x"))


def test_a_spec_that_does_not_fit_the_reference_is_ours(reference: Path) -> None:
    """A column the reference lacks is a bad spec, not a failing candidate."""
    with pytest.raises(BadSpec, match="nonsense"):
        verify(reference, reference, TableSpec(columns=(Column(name="nonsense"),)))


def test_an_unreadable_reference_is_ours(reference: Path, tmp_path: Path) -> None:
    """It is raised, never scored."""
    with pytest.raises(Unreadable):
        verify(reference, tmp_path / "gone.csv")
