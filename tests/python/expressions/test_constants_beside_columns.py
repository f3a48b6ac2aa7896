# SPDX-License-Identifier: Apache-2.0
"""A constant that fills or limits a column leaves it its dtype, as in pandas."""

import pandas as pd
import pytest

import xshards as xs

_BERLIN = "datetime64[us, Europe/Berlin]"
FRAME = pd.DataFrame(
    {
        "n": [1, 2, 3],
        "c": pd.Series(["a", None, "b"], dtype=pd.CategoricalDtype(["b", "a"])),
        "i": pd.Series([3, None, 1], dtype=pd.CategoricalDtype([3, 1], ordered=True)),
        "t": pd.Series(["2024-01-01", None, "2024-03-01"], dtype="datetime64[s]"),
        "z": pd.Series(["2024-01-01", None, "2024-03-01"], dtype=_BERLIN),
        "d": pd.Series(["1h", None, "3h"], dtype="timedelta64[s]"),
        "u": pd.Series([0, 3, 255], dtype="uint8"),
        "m": pd.Series([0, None, 255], dtype="UInt8"),
        "b": pd.Series([-128, 3, 127], dtype="int8"),
        "o": pd.Series([None, None, None], dtype=object),
    }
)
_DAY = pd.Timestamp("2024-02-29")
_UTC = pd.Timestamp("2024-02-29", tz="UTC")


@pytest.mark.parametrize(
    "compute",
    [
        lambda c: c("c").fillna("b"),
        lambda c: c("c").where(c("n") > 1, "a"),
        lambda c: c("i").fillna(1),
        lambda c: c("i").mask(c("n") == 3, 3),
        lambda c: c("t").fillna(_DAY),
        lambda c: c("t").where(c("n") > 1, _DAY),
        lambda c: c("t").clip(_DAY),
        lambda c: c("z").fillna(_UTC),
        lambda c: c("z").where(c("n") > 1, _UTC),
        lambda c: c("d").fillna(pd.Timedelta("1D")),
        lambda c: c("u").clip(-1, 2),
        lambda c: c("m").clip(-1, 2),
        lambda c: c("b").clip(-1000, 2),
        lambda c: c("b").clip(upper=1000),
        lambda c: c("o") == c("o"),
        lambda c: c("o") != c("o"),
        lambda c: c("n").isin(["b", 2]),
        lambda c: c("n").isin(["b", 2.0, pd.Timestamp("2024-01-01")]),
    ],
)
def test_the_dtype_is_that_of_pandas(compute):
    ours = xs.from_pandas(FRAME, 2).with_column("x", compute(xs.col)).to_pandas()["x"]
    pd.testing.assert_series_equal(ours, compute(FRAME.get), check_names=False)


@pytest.mark.filterwarnings("ignore:'Timestamp' is not supported as a fill value")
def test_a_constant_with_a_finer_fraction_makes_the_unit_finer():
    half = pd.Timestamp("2024-02-29 00:00:00.5")
    ours = xs.from_pandas(FRAME, 2).with_column("t", xs.col("t").fillna(half))
    pd.testing.assert_series_equal(ours.to_pandas()["t"], FRAME["t"].fillna(half))


def test_filling_with_what_is_no_category_is_an_error():
    shards = xs.from_pandas(FRAME, 2)
    with pytest.raises(TypeError, match=r"has no such category.*got x"):
        shards.with_column("c", xs.col("c").fillna("x"))
