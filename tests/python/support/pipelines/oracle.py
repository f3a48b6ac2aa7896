# SPDX-License-Identifier: Apache-2.0
"""What pandas does for each operation of XShards; printed programs import it."""

import pandas as pd


def keep(df, condition):
    """Filter: a missing condition is false, rows are numbered anew."""
    chosen = condition.fillna(False).astype(bool)
    return df[chosen.to_numpy()].reset_index(drop=True)


def grouped(df, keys, **named):
    """Aggregate by group; every missing key is one group."""
    groups = df.groupby(keys, dropna=False, sort=False, observed=True)
    columns = {name: _aggregate(groups[of], how) for name, (of, how) in named.items()}
    return pd.DataFrame(columns).reset_index()


def _aggregate(values, how):
    functions = {
        "stddev_pop": lambda g: g.std(ddof=0),
        "var_pop": lambda g: g.var(ddof=0),
    }
    return functions[how](values) if how in functions else getattr(values, how)()


def merged(left, right, how, on):
    """Merge on columns of the same names."""
    if how == "semi":
        partners = right[on].drop_duplicates()
        return left.merge(partners, on=on)[list(left)]
    if how == "anti":
        found = left.merge(right[on].drop_duplicates(), "left", on, indicator="?")
        return found[found["?"] == "left_only"][list(left)].reset_index(drop=True)
    return left.merge(right, how=how, on=on).reset_index(drop=True)


def ordered(df, by, **options):
    return df.sort_values(by, kind="stable", ignore_index=True, **options)


def distinct(df, subset=None, keep="first"):
    return df.drop_duplicates(subset, keep=keep, ignore_index=True)


def present(df, **options):
    return df.dropna(ignore_index=True, **options)


def union(*frames):
    return pd.concat(frames, ignore_index=True)


def as_column(values):
    """Make a column of what unique gives."""
    return pd.DataFrame({"values": values})
