# SPDX-License-Identifier: Apache-2.0
"""Expressions on times give what pandas gives, dtypes included."""

import datetime
import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typed_frames import (
    COMPARISONS,
    check,
    computed,
    frame_of,
    shards_of,
    times,
)

import xshards as xs


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_time_fields(unit, zone):
    df = pd.DataFrame({"t": times(unit, zone)})
    for name in [
        "year",
        "quarter",
        "month",
        "day",
        "day_of_year",
        "day_of_week",
        "hour",
        "minute",
        "second",
        "microsecond",
        "nanosecond",
        "days_in_month",
        "is_leap_year",
        "is_month_start",
        "is_month_end",
        "is_quarter_start",
        "is_quarter_end",
        "is_year_start",
        "is_year_end",
    ]:
        check(df, lambda c, n=name: getattr(c("t").dt, n))
    check(df, lambda c: c("t").dt.normalize())
    for freq in ("D", "h", "6h", "min", "15min", "s", "10s"):
        check(df, lambda c, f=freq: c("t").dt.floor(f))
        check(df, lambda c, f=freq: c("t").dt.ceil(f))
    whole = df.dropna().reset_index(drop=True)
    for name in ("year", "day_of_week", "microsecond", "date"):
        check(whole, lambda c, n=name: getattr(c("t").dt, n))


def test_time_fields_need_times():
    with pytest.raises(TypeError, match="the year needs a timestamp, got int64"):
        computed(pd.DataFrame({"i": [1]}), xs.col("i").dt.year)
    df = pd.DataFrame({"t": times()})
    for wrong in ("x", "0h", "h2", "-1h", "", "1.5h"):
        with pytest.raises(ValueError, match="as in '15min'"):
            computed(df, xs.col("t").dt.floor(wrong))
    zoned = pd.DataFrame({"t": times(zone="UTC")})
    with pytest.raises(TypeError, match="use tz_convert"):
        computed(zoned, xs.col("t").dt.tz_localize("UTC"))
    with pytest.raises(TypeError, match="set one with tz_localize"):
        computed(df, xs.col("t").dt.tz_convert("UTC"))
    with pytest.raises(TypeError, match="needs a duration, got"):
        computed(df, xs.col("t").dt.total_seconds())
    with pytest.raises(NotImplementedError, match="%f"):
        computed(df, xs.col("t").dt.strftime("%S.%f"))


@pytest.mark.parametrize("name", COMPARISONS)
def test_times_of_other_zones_and_units_compare(name):
    df = pd.DataFrame({"p": times("us", "Europe/Paris"), "u": times("ms", "UTC")})
    df["n"], df["s"] = times("ns"), times("s")
    compare = COMPARISONS[name]
    check(df, lambda c: compare(c("p"), c("u")))
    check(df, lambda c: compare(c("n"), c("s")))
    check(df, lambda c: compare(c("n"), pd.Timestamp("2024-02-29 23:59:58.123456")))
    check(df, lambda c: compare(c("p"), pd.Timestamp("2024-07-01", tz="Asia/Tokyo")))
    check(df, lambda c: compare(c("n"), "2024-07-01"))
    check(df, lambda c: compare(c("p"), "2024-07-01 02:00:00"))
    if name in ("==", "!="):
        check(df, lambda c: compare(c("n"), c("p")))
        check(df, lambda c: compare(c("n"), 1))
    else:
        with pytest.raises(TypeError, match="no order between"):
            computed(df, compare(xs.col("n"), xs.col("p")))


def test_arithmetic_of_times():
    df = pd.DataFrame({"t": times(), "p": times("us", "Europe/Paris")})
    df["u"], df["s"] = times("us", "UTC"), times("s")
    df["d"] = pd.to_timedelta([1, None, 90, -7], unit="s").astype("m8[us]")
    df["m"] = pd.to_timedelta([1500, 20, None, -7], unit="ms").astype("m8[ms]")
    df["i"], df["f"] = [2, 3, 0, -4], [1.5, np.nan, 0.0, -2.5]
    for compute in (
        lambda c: c("t") - c("s"),
        lambda c: c("p") - c("u"),
        lambda c: c("t") + c("d"),
        lambda c: c("d") + c("p"),
        lambda c: c("s") - c("m"),
        lambda c: c("d") + c("m"),
        lambda c: c("d") - c("m"),
        lambda c: c("d") * 2,
        lambda c: 2 * c("d"),
        lambda c: c("d") * 1.5,
        lambda c: c("d") * c("i"),
        lambda c: c("d") * c("f"),
        lambda c: c("d") / 2,
        lambda c: c("d") / 4.0,
        lambda c: c("d") // 4,
        lambda c: c("d") / c("m"),
        lambda c: c("d") // c("m"),
        lambda c: c("d") % c("m"),
        lambda c: -c("d"),
        lambda c: abs(c("d")),
        lambda c: c("t") + pd.Timedelta("1D"),
        lambda c: c("t") - pd.Timestamp("2024-01-01"),
        lambda c: pd.Timestamp("2025-01-01") - c("t"),
        lambda c: c("d") / pd.Timedelta("1s"),
        lambda c: c("d") > pd.Timedelta("2s"),
        lambda c: c("d") == c("m"),
        lambda c: c("t").fillna(pd.Timestamp("2024-01-01")),
    ):
        check(df, compute)
    with pytest.raises(TypeError, match="zone"):
        computed(df, xs.col("t") - xs.col("p"))


def test_dates_compare():
    days = [datetime.date(2024, 1, 1), None, datetime.date(2025, 5, 5)]
    df = pd.DataFrame({"d": pd.Series(days, dtype=object), "i": [1, 2, 3]})
    kept = shards_of(df).filter(xs.col("d") > datetime.date(2024, 6, 1))
    assert list(frame_of(kept)["i"]) == [3]


moments = st.datetimes(pd.Timestamp("1900-01-01"), pd.Timestamp("2100-01-01"))


@given(st.lists(st.none() | moments, min_size=1, max_size=8), st.data())
def test_calendar_functions_of_any_time(values, data):
    unit = data.draw(st.sampled_from(["s", "ms", "us", "ns"]))
    zone = data.draw(st.sampled_from([None, "UTC", "Asia/Kolkata"]))
    series = pd.Series(pd.to_datetime(pd.Series(values), utc=True)).dt.as_unit(unit)
    series = series.dt.tz_localize(None) if zone is None else series.dt.tz_convert(zone)
    df = pd.DataFrame({"t": series})
    for name in ("days_in_month", "is_leap_year", "is_month_end", "is_quarter_end"):
        check(df, lambda c, n=name: getattr(c("t").dt, n))
    freq = data.draw(st.sampled_from(["D", "h", "5min", "30s"]))
    check(df, lambda c: c("t").dt.floor(freq))
    check(df, lambda c: c("t").dt.ceil(freq))


@pytest.mark.parametrize("zone", [None, "America/New_York"])
@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_times_as_text(unit, zone):
    df = pd.DataFrame({"t": times(unit, zone)})
    text = {"check_dtype": False}  # pandas gives object where all is missing
    for form in ("%Y-%m-%d %H:%M:%S", "%d.%m.%y", "%A, %j", "%%"):
        check(df, lambda c, f=form: c("t").dt.strftime(f), **text)
    check(df, lambda c: c("t").dt.day_name(), **text)
    check(df, lambda c: c("t").dt.month_name(), **text)


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_zones(unit):
    df = pd.DataFrame({"n": times(unit), "z": times(unit, "America/New_York")})
    check(df, lambda c: c("z").dt.tz_convert("Asia/Tokyo"))
    check(df, lambda c: c("z").dt.tz_convert(None))
    check(df, lambda c: c("z").dt.tz_localize(None))
    check(df, lambda c: c("n").dt.tz_localize("Europe/Paris"))
    check(df, lambda c: c("n").dt.tz_localize(None))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_parts_of_durations(unit):
    spans = ["1h", None, "-2h", "0s", "90D 03:00:00.123456", "-1D 00:00:01.5"]
    df = pd.DataFrame({"d": pd.Series(pd.to_timedelta(spans)).dt.as_unit(unit)})
    check(df, lambda c: c("d").dt.total_seconds())
    for name in ("days", "seconds", "microseconds"):
        check(df, lambda c, n=name: getattr(c("d").dt, n))
        check(df.dropna(ignore_index=True), lambda c, n=name: getattr(c("d").dt, n))


@pytest.mark.parametrize("sign", ["lt", "le", "eq", "ne", "gt", "ge"])
def test_constants_out_of_range_of_nanoseconds(sign):
    df = pd.DataFrame({"t": pd.Series([0, 2**62, None], dtype="M8[ns]")})
    df["d"] = df["t"] - df["t"].iloc[0]
    compare = getattr(operator, sign)
    for name, constant in (
        ("t", datetime.datetime(2500, 1, 1)),
        ("t", datetime.datetime(1500, 1, 1)),
        ("d", datetime.timedelta(days=200_000)),
        ("d", datetime.timedelta(days=-200_000)),
    ):
        check(df, lambda c, name=name, value=constant: compare(c(name), value))


def test_percentiles_of_times_are_rounded_as_numpy_rounds():
    # 0.9 of the way is a whole second, which floats miss on one side or the other.
    times = np.array(["1970-01-01", "1965-10-19T14:28:50"], dtype="datetime64[s]")
    df = pd.DataFrame({"x": times})
    options = {"percentiles": [0.9]}
    actual = xs.from_pandas(df, 2).describe(**options)
    pd.testing.assert_frame_equal(actual, df.describe(**options))
