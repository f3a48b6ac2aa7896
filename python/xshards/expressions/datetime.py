# SPDX-License-Identifier: Apache-2.0
"""Functions of times and durations in expressions, with pandas' names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, overload

import pyarrow as pa

from xshards.errors import XShardsNotImplementedError, XShardsValueError
from xshards.expressions.accessor import Accessor
from xshards.expressions.iso_calendar import IsoCalendar
from xshards.interop.field_metadata import DTYPE, MISSING

if TYPE_CHECKING:
    from typing import Self

    from xshards.expressions import Expression

__all__ = ["DatetimeMethods"]

_FREQUENCY = re.compile(r"([1-9][0-9]{0,5})?(D|h|min|s|ms|us|ns)")


class _Field:
    """A part of a value, read as an attribute."""

    def __init__(self, function: str, doc: str) -> None:
        self._function = function
        self.__doc__ = doc

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> Self: ...
    @overload
    def __get__(
        self, owner: DatetimeMethods, kind: type | None = None
    ) -> Expression: ...
    def __get__(
        self, owner: DatetimeMethods | None, kind: type | None = None
    ) -> Self | Expression:
        if owner is None:
            return self
        return owner._of.call(self._function)


class DatetimeMethods(Accessor):
    """The parts of times and durations; reached as ``expression.dt``.

    Those of times are parts of local time.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-02-29 12:30:00", "2025-01-01"], format="ISO8601")
    >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
    >>> list(shards.with_column("t", xs.col("t").dt.year).to_pandas()["t"])
    [2024, 2025]
    >>> hours = xs.col("t").dt.floor("h").dt.strftime("%H:%M")
    >>> list(shards.with_column("t", hours).to_pandas()["t"])
    ['12:00', '00:00']
    """

    __slots__ = ()

    year = _Field("year", "The year.")
    quarter = _Field("quarter", "The quarter of the year, from 1.")
    month = _Field("month", "The month, from 1.")
    day = _Field("day", "The day of the month, from 1.")
    day_of_year = dayofyear = _Field("day_of_year", "The day of the year, from 1.")
    day_of_week = dayofweek = weekday = _Field(
        "day_of_week", "The day of the week; Monday is 0."
    )
    days_in_month = daysinmonth = _Field("days_in_month", "The days the month has.")
    hour = _Field("hour", "The hour.")
    minute = _Field("minute", "The minute.")
    second = _Field("second", "The second.")
    microsecond = _Field("microsecond", "The microseconds of the second.")
    nanosecond = _Field("nanosecond", "The nanoseconds of the microsecond.")
    is_leap_year = _Field("is_leap_year", "Whether the year has a 29th of February.")
    days = _Field("duration_days", "The whole days of a duration, rounded down.")
    seconds = _Field("duration_seconds", "The seconds of a duration beyond its days.")
    microseconds = _Field(
        "duration_microseconds", "The microseconds of a duration's second."
    )

    @property
    def date(self) -> Expression:
        """The date, without a time.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.date).to_pandas()["t"].tolist()
        [datetime.date(2024, 2, 29)]
        """
        day = self._of.call("date")
        return day._noted(pa.date32(), {DTYPE: "object", MISSING: "NaT"})

    @property
    def time(self) -> Expression:
        """The time of day, without a date or zone.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.time).to_pandas()["t"].tolist()
        [datetime.time(12, 34, 56)]
        """
        local = self.tz_localize(None).cast(pa.time64("us"))
        return local._noted(pa.time64("us"), {DTYPE: "object", MISSING: "NaT"})

    @property
    def is_month_start(self) -> Expression:
        """Whether it is the first day of the month.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-01", "2024-02-29"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.is_month_start).to_pandas()["t"].tolist()
        [True, False]
        """
        return self.day == 1

    @property
    def is_month_end(self) -> Expression:
        """Whether it is the last day of the month.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-01", "2024-02-29"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.is_month_end).to_pandas()["t"].tolist()
        [False, True]
        """
        return self.day == self.days_in_month

    @property
    def is_quarter_start(self) -> Expression:
        """Whether it is the first day of the quarter.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-04-01", "2024-05-01"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.is_quarter_start).to_pandas()["t"].tolist()
        [True, False]
        """
        return (self.day == 1) & (self.month % 3 == 1)

    @property
    def is_quarter_end(self) -> Expression:
        """Whether it is the last day of the quarter.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-06-30", "2024-05-31"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.is_quarter_end).to_pandas()["t"].tolist()
        [True, False]
        """
        return (self.day == self.days_in_month) & (self.month % 3 == 0)

    @property
    def is_year_start(self) -> Expression:
        """Whether it is the first day of the year.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-01-01", "2024-05-01"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.is_year_start).to_pandas()["t"].tolist()
        [True, False]
        """
        return self.day_of_year == 1

    @property
    def is_year_end(self) -> Expression:
        """Whether it is the last day of the year.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-12-31", "2024-05-31"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.is_year_end).to_pandas()["t"].tolist()
        [True, False]
        """
        return (self.month == 12) & (self.day == 31)

    def isocalendar(self) -> IsoCalendar:
        """Return year, week and day by ISO 8601: ``xs.col("t").dt.isocalendar().week``.

        Returns
        -------
        IsoCalendar
            With ``year``, ``week`` and ``day``, each an expression.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"t": pd.to_datetime(["2024-12-30"])}))
        >>> week = xs.col("t").dt.isocalendar().week
        >>> shards.with_column("t", week).to_pandas()["t"].tolist()
        [1]
        """
        return IsoCalendar(self._of)

    def normalize(self) -> Expression:
        """Round down to midnight; the time zone is kept.

        Returns
        -------
        Expression

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> found = xs.col("t").dt.normalize().dt.hour
        >>> shards.assign(t=found).to_pandas()["t"].tolist()
        [0]
        """
        return self._of.call("normalize")

    def floor(self, freq: str) -> Expression:
        """Round down to a multiple of a unit of time.

        Parameters
        ----------
        freq : str
            A unit (``D``, ``h``, ``min``, ``s``, ``ms``, ``us``, ``ns``), or a number
            of them: ``"15min"``.

        Returns
        -------
        Expression

        Raises
        ------
        ValueError
            If the unit is unknown.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> found = xs.col("t").dt.floor("15min").dt.strftime("%H:%M")
        >>> shards.assign(t=found).to_pandas()["t"].tolist()
        ['12:30']
        """
        return self._round("floor_temporal", freq)

    def ceil(self, freq: str) -> Expression:
        """Round up to a multiple of a unit of time; see `floor`.

        Parameters
        ----------
        freq : str
            See `floor`.

        Returns
        -------
        Expression

        Raises
        ------
        ValueError
            If the unit is unknown.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.ceil("D")).to_pandas()
                   t
        0 2024-03-01
        """
        return self._round("ceil_temporal", freq)

    def round(self, freq: str) -> Expression:
        """Round to the nearest multiple of a unit of time; see `floor`.

        Of two that are equally near, it is the even one.

        Parameters
        ----------
        freq : str
            See `floor`.

        Returns
        -------
        Expression

        Raises
        ------
        ValueError
            If the unit is unknown.

        Examples
        --------
        >>> df = pd.DataFrame({"t": pd.to_datetime(["2024-02-29 12:34:56"])})
        >>> hours = xs.from_pandas(df).assign(h=xs.col("t").dt.round("h").dt.hour)
        >>> hours.to_pandas()["h"].tolist()
        [13]
        """
        below, above = self.floor(freq), self.ceil(freq)
        down, up = self._of - below, above - self._of
        number, unit = _FREQUENCY.fullmatch(freq).groups()  # type: ignore[union-attr]
        even = self.floor(f"{2 * int(number or 1)}{unit}") == below
        return below.where((down < up) | ((down == up) & even), above)

    def strftime(self, date_format: str) -> Expression:
        """Format as text.

        Parameters
        ----------
        date_format : str
            As in ``"%Y-%m-%d"``; ``%f`` is not supported.

        Returns
        -------
        Expression

        Raises
        ------
        NotImplementedError
            If the format has ``%f``.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> found = xs.col("t").dt.strftime("%d.%m.%Y")
        >>> shards.assign(t=found).to_pandas()["t"].tolist()
        ['29.02.2024']
        """
        if "%f" in date_format:
            msg = f"strftime does not support %f, got {date_format!r}"
            raise XShardsNotImplementedError(msg)
        return self._of.call("strftime", date_format)

    def day_name(self) -> Expression:
        """Return the English name of the day of the week.

        Returns
        -------
        Expression

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.day_name()).to_pandas()["t"].tolist()
        ['Thursday']
        """
        return self.strftime("%A")

    def month_name(self) -> Expression:
        """Return the English name of the month.

        Returns
        -------
        Expression

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.month_name()).to_pandas()["t"].tolist()
        ['February']
        """
        return self.strftime("%B")

    def tz_convert(self, tz: str | None) -> Expression:
        """Convert to another time zone; the moments stay the same.

        Parameters
        ----------
        tz : str or None
            The time zone; None gives UTC, without a zone.

        Returns
        -------
        Expression

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> utc = xs.col("t").dt.tz_localize("UTC")
        >>> hours = shards.assign(t=utc.dt.tz_convert("Asia/Tokyo").dt.hour)
        >>> hours.to_pandas()["t"].tolist()
        [21]
        """
        return self._of.call("convert_zone", tz or "")

    def tz_localize(self, tz: str | None) -> Expression:
        """Attach a time zone to times that have none.

        Parameters
        ----------
        tz : str or None
            The time zone; None drops the zone that there is.

        Returns
        -------
        Expression

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"t": pd.to_datetime(["2024-02-29"])}))
        >>> zoned = shards.with_column("t", xs.col("t").dt.tz_localize("Europe/Oslo"))
        >>> zoned.to_pandas()["t"].dt.tz
        zoneinfo.ZoneInfo(key='Europe/Oslo')
        """
        return self._of.call("assume_zone", tz or "")

    def total_seconds(self) -> Expression:
        """Return a duration in seconds.

        Returns
        -------
        Expression

        Examples
        --------
        >>> spans = pd.to_timedelta(["1min", "2s"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": spans}))
        >>> shards.assign(t=xs.col("t").dt.total_seconds()).to_pandas()["t"].tolist()
        [60.0, 2.0]
        """
        return self._of.call("total_seconds")

    def _round(self, function: str, freq: str) -> Expression:
        if _FREQUENCY.fullmatch(freq) is None:
            msg = (
                "freq is one of D, h, min, s, ms, us, ns, or a number of them, "
                f"as in '15min', got {freq!r}"
            )
            raise XShardsValueError(msg)
        return self._of.call(function, freq)
