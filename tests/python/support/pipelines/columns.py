# SPDX-License-Identifier: Apache-2.0
"""Random columns and frames, as Python source, so that a failure can be printed."""

from dataclasses import dataclass, replace
from random import Random

_TEXTS = ["a", "b", "B ", "", "é", "Zürich", "日本", "🙂", "a,b", "1", "-2.5", " x"]
_DAYS = ["2024-02-29", "1969-12-31", "2024-03-31", "1900-01-01", "2024-02-29"]
_CLOCKS = ["00:00:00", "23:59:59", "01:30:00", "12:00:00"]
_FRACTIONS = {"s": "", "ms": ".125", "us": ".125001", "ns": ".125001007"}
_SPANS = ["0s", "1h", "-2h", "90D", "-1s", "36h"]
_DECIMALS = ["1.50", "-3.00", "0.00", "2.25", "100.10"]
_DATES = ["date(2024, 2, 29)", "date(1, 1, 1)", "date(1969, 12, 31)"]


@dataclass(frozen=True)
class Column:
    """The cells and the dtype of a column, each as source."""

    dtype: str
    cells: tuple[str, ...]

    def source(self):
        return f"pd.Series([{', '.join(self.cells)}], dtype={self.dtype})"


@dataclass(frozen=True)
class Frame:
    """Columns of one length, by name."""

    rows: int
    columns: dict[str, Column]

    def source(self):
        if not self.columns:
            return f"pd.DataFrame(index=range({self.rows}))"
        lines = [f"    {n!r}: {c.source()}," for n, c in self.columns.items()]
        return "\n".join(["pd.DataFrame({", *lines, "})"])

    def without(self, name):
        kept = {n: c for n, c in self.columns.items() if n != name}
        return replace(self, columns=kept)

    def without_rows(self, begin, end):
        """Leave out the rows from `begin` to `end`."""
        columns = {
            name: replace(column, cells=column.cells[:begin] + column.cells[end:])
            for name, column in self.columns.items()
        }
        rows = self.rows - (min(end, self.rows) - begin)
        return Frame(rows, columns)


def _integer(bits, *, signed):
    low, high = (
        (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    )

    def cell(rng):
        if rng.random() < 0.8:
            return str(rng.randint(max(low, -3), 4))
        return str(rng.choice([low, high, high - 1, low // 2, high // 3]))

    return cell


def _float(rng):
    # Quarters: their sums are exact in any order.
    if rng.random() < 0.75:
        return repr(rng.randint(-12, 12) / 4)
    return rng.choice(["nan", "nan", "-0.0", "0.0", "inf", "-inf", "1000000.25"])


def _finite(rng):
    return repr(rng.randint(-12, 12) / 4)


def _time(unit):
    def cell(rng):
        clock = rng.choice(_CLOCKS)
        fraction = rng.choice(["", _FRACTIONS[unit]])
        return repr(f"{rng.choice(_DAYS)} {clock}{fraction}")

    return cell


def _zoned(rng):
    return repr(f"{rng.choice(_DAYS)} {rng.choice(_CLOCKS)}+00:00")


def _one_of(sources):
    return lambda rng: rng.choice(sources)


def _missing(cell, missing="None", share=0.2):
    return lambda rng: missing if rng.random() < share else cell(rng)


def _kinds():
    quoted = [repr(text) for text in _TEXTS]
    bools = _one_of(["True", "False"])
    for bits in (8, 16, 32, 64):
        for signed in (True, False):
            name = f"{'' if signed else 'u'}int{bits}"
            cell = _integer(bits, signed=signed)
            yield name, repr(name), cell
            masked = name.replace("uint", "UInt").replace("int", "Int")
            yield masked, repr(masked), _missing(cell)
    yield "float32", "'float32'", _float
    yield "float64", "'float64'", _float
    yield "Float32", "'Float32'", _missing(_finite)
    yield "Float64", "'Float64'", _missing(_finite)
    yield "bool", "'bool'", bools
    yield "boolean", "'boolean'", _missing(bools)
    yield "object-bool", "object", _missing(bools, "nan")
    yield "str", "'str'", _missing(_one_of(quoted))
    yield "string", "'string'", _missing(_one_of(quoted))
    words = ["'b'", "'a'", "'é'"]
    listed = f"[{', '.join(words)}, 'unused']"
    for ordered in (False, True):
        dtype = f"pd.CategoricalDtype({listed}, ordered={ordered})"
        yield f"category{'-ordered' * ordered}", dtype, _missing(_one_of(words))
    numbers = "pd.CategoricalDtype([3, 1, 2])"
    yield "category-int", numbers, _missing(_one_of(["1", "2", "3"]))
    for unit in _FRACTIONS:
        yield f"datetime[{unit}]", f"'datetime64[{unit}]'", _missing(_time(unit))
    zoned = _missing(
        lambda rng: repr(f"{rng.choice(_DAYS)} {rng.choice(_CLOCKS)}+00:00")
    )
    yield "zoned", "'datetime64[us, Europe/Berlin]'", zoned
    spans = _missing(_one_of([repr(span) for span in _SPANS]))
    yield "span", "'timedelta64[ms]'", spans
    yield "date", "object", _missing(_one_of(_DATES))
    decimals = _one_of([f"Decimal({text!r})" for text in _DECIMALS])
    yield "decimal", "object", _missing(decimals)
    # Not the largest integers, see known_differences.py.
    yield "int64[pyarrow]", "'int64[pyarrow]'", _missing(_integer(32, signed=True))


#: Kinds of columns: name -> (source of the dtype, function(rng) -> source of a cell).
KINDS = {name: (dtype, cell) for name, dtype, cell in _kinds()}
#: Those that DuckDB treats in the same way: no infinity, no three-valued logic.
SQL_KINDS = {
    "int64": ("'int64'", lambda rng: str(rng.randint(-3, 4))),
    "float64": ("'float64'", _missing(_finite, "nan")),
    "str": KINDS["str"],
    "bool": KINDS["bool"],
    "datetime[us]": KINDS["datetime[us]"],
}
_COMMON = ["int64", "float64", "str", "bool", "Int64", "datetime[us]", "category"]


def draw_column(rng: Random, kind, rows, kinds=KINDS):
    dtype, cell = kinds[kind]
    cells = [cell(rng) for _ in range(rows)]
    if rows and rng.random() < 0.05:  # one value, or none at all
        cells = cells[:1] * rows
    return Column(dtype, tuple(cells))


def draw_rows(rng):
    return rng.choice([0, 1, 2, 5, 9, 14, 30])


def draw_frame(rng, kinds_by_name, kinds=KINDS):
    """Draw a frame of columns of given kinds."""
    rows = draw_rows(rng)
    columns = {
        name: draw_column(rng, kind, rows, kinds)
        for name, kind in kinds_by_name.items()
    }
    return Frame(rows, columns)


def draw_kind(rng, kinds=KINDS):
    common = [kind for kind in _COMMON if kind in kinds]
    return rng.choice(common if rng.random() < 0.4 else list(kinds))
