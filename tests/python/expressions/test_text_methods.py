# SPDX-License-Identifier: Apache-2.0
"""String functions of expressions give what pandas gives, dtypes included."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typed_frames import check

import xshards as xs

METHODS = {
    "capitalize": lambda s: s.str.capitalize(),
    "title": lambda s: s.str.title(),
    "swapcase": lambda s: s.str.swapcase(),
    **{
        f"is{name}": lambda s, n=name: getattr(s.str, f"is{n}")()
        for name in [
            *("alnum", "alpha", "ascii", "decimal", "digit", "lower", "numeric"),
            *("space", "title", "upper"),
        ]
    },
    "pad-left": lambda s: s.str.pad(5),
    "pad-right": lambda s: s.str.pad(5, "right", "*"),
    "pad-both": lambda s: s.str.pad(5, "both", "é"),
    "ljust": lambda s: s.str.ljust(4, "."),
    "rjust": lambda s: s.str.rjust(4, "."),
    "center-even": lambda s: s.str.center(6, "."),
    "center-odd": lambda s: s.str.center(7, "."),
    "zfill": lambda s: s.str.zfill(4),
    "repeat": lambda s: s.str.repeat(3),
    "slice": lambda s: s.str.slice(1, 3),
    "slice-negative": lambda s: s.str.slice(-2),
    "slice_replace": lambda s: s.str.slice_replace(1, 2, "__"),
    "slice_replace-end": lambda s: s.str.slice_replace(1, None, "_"),
    "get": lambda s: s.str.get(1),
    "item": lambda s: s.str[0],
    "items": lambda s: s.str[1:3],
    "find": lambda s: s.str.find("b"),
    "find-characters": lambda s: s.str.find("é"),
    "rfind": lambda s: s.str.rfind("a"),
    "startswith-any": lambda s: s.str.startswith(("a", "é")),
    "endswith-any": lambda s: s.str.endswith(("b", " ")),
    "contains-na": lambda s: s.str.contains("a", na=False),
    "contains-flags": lambda s: s.str.contains("A.", flags=re.IGNORECASE),
    "match-flags": lambda s: s.str.match("A", flags=re.IGNORECASE),
    "replace-once": lambda s: s.str.replace("a", "<>", n=1),
    "replace-case": lambda s: s.str.replace("A", "<>", case=False, regex=True),
    "get-last": lambda s: s.str.get(-1),
    "removeprefix": lambda s: s.str.removeprefix("a"),
    "removesuffix": lambda s: s.str.removesuffix("b"),
    "removesuffix-nothing": lambda s: s.str.removesuffix(""),
    "count": lambda s: s.str.count("[ab]"),
    "match": lambda s: s.str.match("a|b"),
    "match-case": lambda s: s.str.match("A", case=False),
    "fullmatch": lambda s: s.str.fullmatch("a|ab"),
}

texts = st.none() | st.text(
    st.sampled_from([*"abAB é日+-017 \t", "ß"]), min_size=0, max_size=6
)


@pytest.mark.parametrize("name", METHODS)
@given(values=st.lists(texts, min_size=1, max_size=8), n=st.integers(1, 3))
def test_text_methods(name, values, n):
    df = pd.DataFrame({"s": pd.Series(values, dtype="str")})
    check(df, lambda column: METHODS[name](column("s")), n)


@pytest.mark.parametrize("name", ["isalpha", "match", "count", "pad-both"])
def test_text_methods_of_nullable_text(name):
    df = pd.DataFrame({"s": pd.Series(["ab", None, "", "é1"], dtype="string")})
    check(df, lambda column: METHODS[name](column("s")))


def test_text_methods_in_queries():
    df = pd.DataFrame({"s": ["ab", "1", None]})
    kept = xs.from_pandas(df, 2).query("s.str.isalpha()").to_pandas()
    assert list(kept["s"]) == ["ab"]


def test_text_mistakes_are_named():
    with pytest.raises(ValueError, match="side must be left, right or both"):
        xs.col("s").str.pad(3, "top")
    with pytest.raises(ValueError, match="step must be positive"):
        xs.col("s").str.slice(0, 1, -1)


@pytest.mark.parametrize("n", [-1, 1])
def test_an_empty_text_is_replaced_between_all_characters(n):
    frame = pd.DataFrame({"s": ["abc", "\u00fc", "", None]})
    replaced = xs.col("s").str.replace("", r"\1-", n=n)
    actual = xs.from_pandas(frame).with_column("s", replaced).to_pandas()["s"]
    pd.testing.assert_series_equal(actual, frame["s"].str.replace("", r"\1-", n=n))


@pytest.mark.parametrize("pattern", ["", "x*", r"\b"])
def test_empty_matches_are_replaced_all_or_once(pattern):
    with pytest.raises(NotImplementedError, match="n > 1"):
        xs.col("s").str.replace(pattern, "-", n=2, regex=True)


@pytest.mark.parametrize("dtype", [object, "str", "string", "string[python]"])
@pytest.mark.parametrize("name", ["upper", "lower", "title", "capitalize", "swapcase"])
def test_case_maps_one_character_to_one_for_every_dtype(name, dtype):
    """As pandas does for Arrow text; PANDAS.md has the difference of the others."""
    values = ["straße", "ﬁn", "İ", "Σας", "é", None]
    expected = getattr(pd.Series(values, dtype="str").str, name)().tolist()
    frame = pd.DataFrame({"s": pd.Series(values, dtype=dtype)})
    column = getattr(xs.col("s").str, name)()
    actual = xs.from_pandas(frame, 2).assign(s=column).to_pandas()["s"].tolist()
    assert actual[:-1] == expected[:-1]
    assert pd.isna(actual[-1])
