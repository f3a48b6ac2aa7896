# SPDX-License-Identifier: Apache-2.0
"""Functions of times and durations in expressions, with pandas' names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, overload

import pyarrow as pa

from xshards.errors import XShardsNotImplementedError, XShardsValueError
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


class DatetimeMethods:
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

    __slots__ = ("_of",)

    def __init__(self, of: Expression) -> None:
        self._of = of

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
        """The date, without a time."""
        day = self._of.call("date")
        return day._noted(pa.date32(), {DTYPE: "object", MISSING: "NaT"})

    @property
    def time(self) -> Expression:
        """The time of day, without a date or zone."""
        local = self.tz_localize(None).cast(pa.time64("us"))
        return local._noted(pa.time64("us"), {DTYPE: "object", MISSING: "NaT"})

    @property
    def is_month_start(self) -> Expression:
        """Whether it is the first day of the month."""
        return self.day == 1

    @property
    def is_month_end(self) -> Expression:
        """Whether it is the last day of the month."""
        return self.day == self.days_in_month

    @property
    def is_quarter_start(self) -> Expression:
        """Whether it is the first day of the quarter."""
        return (self.day == 1) & (self.month % 3 == 1)

    @property
    def is_quarter_end(self) -> Expression:
        """Whether it is the last day of the quarter."""
        return (self.day == self.days_in_month) & (self.month % 3 == 0)

    @property
    def is_year_start(self) -> Expression:
        """Whether it is the first day of the year."""
        return self.day_of_year == 1

    @property
    def is_year_end(self) -> Expression:
        """Whether it is the last day of the year."""
        return (self.month == 12) & (self.day == 31)

    def isocalendar(self) -> IsoCalendar:
        """Give year, week and day by ISO 8601: ``xs.col("t").dt.isocalendar().week``.

        Examples
        --------
        >>> shards = xs.from_pandas(pd.DataFrame({"t": pd.to_datetime(["2024-12-30"])}))
        >>> week = xs.col("t").dt.isocalendar().week
        >>> shards.with_column("t", week).to_pandas()["t"].tolist()
        [1]
        """
        return IsoCalendar(self)

    def normalize(self) -> Expression:
        """Go back to midnight; the time zone is kept."""
        return self._of.call("normalize")

    def floor(self, freq: str) -> Expression:
        """Go back to a multiple of a unit of time.

        Parameters
        ----------
        freq : str
            A unit (``D``, ``h``, ``min``, ``s``, ``ms``, ``us``, ``ns``), or a number
            of them: ``"15min"``.
        """
        return self._round("floor_temporal", freq)

    def ceil(self, freq: str) -> Expression:
        """Go on to a multiple of a unit of time; see `floor`."""
        return self._round("ceil_temporal", freq)

    def round(self, freq: str) -> Expression:
        """Go to the nearest multiple of a unit of time; see `floor`.

        Of two that are as near, it is the even one.
        """
        below, above = self.floor(freq), self.ceil(freq)
        down, up = self._of - below, above - self._of
        number, unit = _FREQUENCY.fullmatch(freq).groups()  # type: ignore[union-attr]
        even = self.floor(f"{2 * int(number or 1)}{unit}") == below
        return below.where((down < up) | ((down == up) & even), above)

    def strftime(self, date_format: str) -> Expression:
        """Write as text, as in ``"%Y-%m-%d"``; ``%f`` is not known."""
        if "%f" in date_format:
            msg = f"strftime knows no %f, got {date_format!r}"
            raise XShardsNotImplementedError(msg)
        return self._of.call("strftime", date_format)

    def day_name(self) -> Expression:
        """Give the English name of the day of the week."""
        return self.strftime("%A")

    def month_name(self) -> Expression:
        """Give the English name of the month."""
        return self.strftime("%B")

    def tz_convert(self, tz: str | None) -> Expression:
        """Show the same moments in another time zone; None gives UTC without zone."""
        return self._of.call("convert_zone", tz or "")

    def tz_localize(self, tz: str | None) -> Expression:
        """Say which time zone times without one are of; None drops the zone."""
        return self._of.call("assume_zone", tz or "")

    def total_seconds(self) -> Expression:
        """Give a duration in seconds."""
        return self._of.call("total_seconds")

    def _round(self, function: str, freq: str) -> Expression:
        if _FREQUENCY.fullmatch(freq) is None:
            msg = (
                "freq is one of D, h, min, s, ms, us, ns, or a number of them, "
                f"as in '15min', got {freq!r}"
            )
            raise XShardsValueError(msg)
        return self._of.call(function, freq)


class IsoCalendar:
    """Parts of dates by ISO 8601: weeks start on Monday, and belong to one year."""

    def __init__(self, of: DatetimeMethods) -> None:
        self._of = of

    @property
    def year(self) -> Expression:
        """The year that the week belongs to."""
        return self._of._of.call("iso_year").astype("Int32")

    @property
    def week(self) -> Expression:
        """The week of the year, from 1."""
        return self._of._of.call("iso_week").astype("UInt32")

    @property
    def day(self) -> Expression:
        """The day of the week; Monday is 1."""
        return (self._of.day_of_week + 1).astype("UInt32")
