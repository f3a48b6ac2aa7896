# SPDX-License-Identifier: Apache-2.0
"""Dates by ISO 8601: years of whole weeks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xshards.expressions.accessor import Accessor

if TYPE_CHECKING:
    from xshards.expressions.expression import Expression

__all__ = ["IsoCalendar"]


class IsoCalendar(Accessor):
    """Parts of dates by ISO 8601: weeks start on Monday, and belong to one year.

    Examples
    --------
    >>> shards = xs.from_pandas(pd.DataFrame({"t": pd.to_datetime(["2024-12-30"])}))
    >>> iso = xs.col("t").dt.isocalendar()
    >>> shards.assign(year=iso.year, week=iso.week).to_pandas()[["year", "week"]]
       year  week
    0  2025     1
    """

    __slots__ = ()

    @property
    def year(self) -> Expression:
        """The year that the week belongs to.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.isocalendar().year).to_pandas()["t"].tolist()
        [2024]
        """
        return self._of.call("iso_year").astype("Int32")

    @property
    def week(self) -> Expression:
        """The week of the year, from 1.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.isocalendar().week).to_pandas()["t"].tolist()
        [9]
        """
        return self._of.call("iso_week").astype("UInt32")

    @property
    def day(self) -> Expression:
        """The day of the week; Monday is 1.

        Examples
        --------
        >>> times = pd.to_datetime(["2024-02-29 12:34:56"])
        >>> shards = xs.from_pandas(pd.DataFrame({"t": times}))
        >>> shards.assign(t=xs.col("t").dt.isocalendar().day).to_pandas()["t"].tolist()
        [4]
        """
        return (self._of.call("day_of_week") + 1).astype("UInt32")
