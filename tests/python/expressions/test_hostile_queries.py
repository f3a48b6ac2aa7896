# SPDX-License-Identifier: Apache-2.0
"""The text of a query may be anything: it ends soon, in an error of ours."""

import contextlib
import random
import time

import pandas as pd
import pytest

import xshards as xs

SHARDS = xs.from_pandas(pd.DataFrame({"a": [1, 2, 3], "s": ["x", "y", None]}), 2)


@pytest.mark.parametrize(
    "text",
    [
        "a > 9**9**9",
        "a > 2**(9**9)",
        "a > (10**300) * (10**300) * (10**300)",
        "s == 'x' * 10**9",
        "s == 10**9 * 'x'",
        "s in ['x'] * 10**9",
        "s == '%1000000000d' % 5",
        "a > 1 / 0",
        "a > 10.0**999",
        "a > -'x'",
        "a > 'x' + 1",
        "a > 1\0",
        "a > " + "9" * 5000,
        "(" * 150 + "a" + ")" * 150 + " +",
        "(" * 5000 + "a" + ")" * 5000,
        "-" * 5000 + "a > 1",
        "not " * 5000 + "a",
        "a" + " + a" * 20_000 + " > 1",
        "a" + ".str" * 5000,
        "a > " + "[" * 90 + "1" + "]" * 90,
        "s.str.pad()",
        "s.str.pad(1, 2, 3, 4, 5)",
        "s.isin()",
        "a == ...",
        "a == 1j",
        "...",
    ],
    ids=range(26),
)
def test_it_is_an_error_of_ours(text):
    begin = time.monotonic()
    with pytest.raises(xs.XShardsError) as caught:
        SHARDS.query(text).to_pandas()
    assert type(caught.value).__module__ == "xshards.errors"
    assert time.monotonic() - begin < 10


def test_long_queries_still_work():
    text = "a" + " + a" * 100 + " > 150 and " + " or ".join(["a == 2"] * 1000)
    assert SHARDS.query(text).to_pandas()["a"].tolist() == [2]


def test_small_arithmetic_on_constants_still_works():
    query = "a > 2**3 - 7 and a < 10**2 // 2 * 3 and s != 'x' * 3 and a < 2**-1 * 100"
    assert SHARDS.query(query).to_pandas()["a"].tolist() == [2, 3]


def test_what_a_reduction_raises_is_unchanged():
    def fail(df):
        raise RecursionError("mine")

    with pytest.raises(RecursionError, match="mine") as caught:
        SHARDS.transform_shard(fail).query("a > a.mean()").to_pandas()
    assert not isinstance(caught.value, xs.XShardsError)


def test_any_text_of_its_words_is_read_or_an_error_of_ours():
    words = "a s 1 2.5 'x' ( ) [ ] , . + - * ** / // % < > == != & | ~ and or not in"
    words += " @v ` a.str .len() .mean() isin ( : = lambda \\ # \n \0 None True ... 1j"
    draw = random.Random(7)
    for _ in range(3000):
        text = " ".join(draw.choices(words.split(" "), k=draw.randint(1, 9)))
        with contextlib.suppress(xs.XShardsError):
            SHARDS.query(text)
