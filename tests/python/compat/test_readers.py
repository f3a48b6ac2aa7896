# SPDX-License-Identifier: Apache-2.0
"""orca.data.pandas: both backends, the options and the errors."""

import numpy as np
import pandas as pd
import pytest

from xshards.compat.orca.orca_context import OrcaContext
from xshards.compat.orca.readers import read_csv, read_json, read_parquet


@pytest.fixture(params=["spark", "pandas"])
def backend(request, sc):
    OrcaContext.pandas_read_backend = request.param
    return request.param


@pytest.fixture
def spark_backend(sc):
    OrcaContext.pandas_read_backend = "spark"


@pytest.fixture
def expected(csv_folder):
    files = sorted(csv_folder.glob("*.csv"))
    return [pd.read_csv(file) for file in files]


def check(shards, expected):
    found = shards.collect()
    assert len(found) == len(expected)
    for got, want in zip(found, expected, strict=True):
        pd.testing.assert_frame_equal(got, want, check_dtype=True)


def test_folder_file_list_and_scheme(backend, csv_folder, expected):
    check(read_csv(str(csv_folder)), expected)
    files = sorted(str(path) for path in csv_folder.glob("*.csv"))
    check(read_csv(files), expected)
    check(read_csv(files[1]), expected[1:])
    check(read_csv(f"file://{files[0]}"), expected[:1])


def test_missing_path(backend, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        read_csv(str(tmp_path / "abc"))
    wanted = {"spark": "Path does not exist", "pandas": "No such file or directory"}
    assert wanted[backend] in str(caught.value)
    assert "invalid/empty" in str(caught.value)


def test_pandas_backend_takes_options_of_pandas(sc, csv_folder):
    OrcaContext.pandas_read_backend = "pandas"
    shards = read_csv(str(csv_folder), skiprows=[1], index_col="ID", thousands=",")
    assert [len(df) for df in shards.collect()] == [6, 6]
    assert shards.first().index.name == "ID"
    with pytest.raises(TypeError):
        read_csv(str(csv_folder), no_such_option=1)


def test_pandas_backend_makes_no_more_partitions_than_cores(sc, tmp_path):
    OrcaContext.pandas_read_backend = "pandas"
    for number in range(5):
        pd.DataFrame({"a": [number]}).to_csv(tmp_path / f"{number}.csv", index=False)
    shards = read_csv(str(tmp_path))
    assert shards.num_partitions() == 2
    assert sorted(shards.concat_to_pdf()["a"]) == list(range(5))


def test_columns_without_a_header_are_numbers_as_text(spark_backend, tmp_path):
    (tmp_path / "a.csv").write_text("1,2,x\n3,4,y\n")
    path = str(tmp_path / "a.csv")
    assert read_csv(path, header=None).first().columns.tolist() == ["0", "1", "2"]
    named = read_csv(path, header=None, names=["a", "b", "c"]).first()
    assert named.columns.tolist() == ["a", "b", "c"]
    assert len(named) == 2


def test_header_is_checked(spark_backend, csv_folder):
    assert len(read_csv(str(csv_folder), header=True)) == 14
    with pytest.raises(RuntimeError, match="header should be either"):
        read_csv(str(csv_folder), header=3)


@pytest.mark.parametrize(
    ("usecols", "columns"),
    [
        ([0, 1], ["ID", "sale_price"]),
        (["ID"], ["ID"]),
        (lambda name: name == "sale_price", ["sale_price"]),
        (["location", "ID"], ["ID", "location"]),
    ],
)
def test_usecols(spark_backend, csv_folder, usecols, columns):
    found = read_csv(str(csv_folder), usecols=usecols).first()
    assert found.columns.tolist() == columns


def test_names_and_usecols(spark_backend, csv_folder):
    path = str(csv_folder)
    first = read_csv(path, header=0, names=["user", "item"], usecols=[0, 1]).first()
    assert first.columns.tolist() == ["user", "item"]
    all_named = {"header": 0, "names": ["user", "item", "place"]}
    assert read_csv(path, **all_named).first().columns.tolist() == all_named["names"]
    some = read_csv(path, usecols=[1, 2], **all_named).first()
    assert some.columns.tolist() == ["item", "place"]
    by_name = read_csv(path, usecols=["user", "item"], **all_named).first()
    assert by_name.columns.tolist() == ["user", "item"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"names": ["ID", "location"], "usecols": ["ID"]},
            "Passed names did not match usecols",
        ),
        ({"names": ["a", "a", "b"]}, "Found duplicate names"),
        ({"names": ["a"]}, r"The number of names \[1\] does not match"),
        ({"usecols": ["nothing"]}, "usecols do not match columns"),
        ({"usecols": [7]}, "usecols do not match columns"),
        (
            {"names": ["u", "i"], "usecols": [0, 1], "dtype": {2: "int"}},
            "column index to be set type is not in current dataframe",
        ),
        (
            {"dtype": {"nothing": "int"}},
            "column to be set type is not in current dataframe",
        ),
        ({"index_col": "nothing"}, "index_col 'nothing' is not in the columns"),
        ({"mangle_dupe_cols": False}, "mangle_dupe_cols can only be True"),
        ({"parse_dates": ["ID"]}, "parse_dates can only be False"),
        ({"comment": "##"}, "Only length-1 comment characters"),
    ],
)
def test_mistakes_are_named(spark_backend, csv_folder, options, message):
    with pytest.raises(RuntimeError, match=message):
        read_csv(str(csv_folder), header=0, **options)


def test_dtype(spark_backend, csv_folder):
    path = str(csv_folder)
    by_name = read_csv(path, dtype={"sale_price": np.float32}).first()
    assert by_name["sale_price"].dtype == "float32"
    assert by_name["ID"].dtype == "int64"
    one = read_csv(path, usecols=["ID", "sale_price"], dtype="float").first()
    assert one.dtypes.tolist() == ["float64", "float64"]
    names = {"header": 0, "names": ["user", "item"], "usecols": [0, 1]}
    by_place = read_csv(path, dtype={0: np.float32, 1: np.float64}, **names).first()
    assert by_place["user"].dtype == "float32"


def test_names_as_a_schema(spark_backend, csv_folder):
    names = "user BIGINT, price float, place string"
    found = read_csv(str(csv_folder), header=0, names=names).first()
    assert found.columns.tolist() == ["user", "price", "place"]
    assert found["price"].dtype == "float32"
    with pytest.raises(RuntimeError, match="the types known here are"):
        read_csv(str(csv_folder), header=0, names="a decimal, b int, c int")


def test_squeeze_and_index(spark_backend, csv_folder):
    series = read_csv(str(csv_folder), usecols=["location"], squeeze=True)
    assert isinstance(series.first(), pd.Series)
    assert len(series.unique()) == 6
    indexed = read_csv(str(csv_folder), index_col="ID")
    assert 103 in indexed.first().index
    assert indexed.first().columns.tolist() == ["sale_price", "location"]
    assert read_csv(str(csv_folder), index_col=0).first().index.name == "ID"


def test_separators_and_comments(spark_backend, tmp_path):
    (tmp_path / "a.csv").write_text("# note\na;b\n1;'x;y'\n")
    found = read_csv(str(tmp_path / "a.csv"), sep=";", quotechar="'", comment="#")
    assert found.first()["b"].tolist() == ["x;y"]
    again = read_csv(str(tmp_path / "a.csv"), delimiter=";", quote="'", comment="#")
    assert again.first()["b"].tolist() == ["x;y"]


def test_options_without_effect_are_named(spark_backend, csv_folder):
    with pytest.warns(UserWarning, match="mode='PERMISSIVE' has no effect"):
        read_csv(str(csv_folder), mode="PERMISSIVE")


@pytest.fixture
def json_folder(tmp_path):
    for number in range(2):
        frame = pd.DataFrame(
            {"timestamp": [f"t{i}" for i in range(3)], "value": range(1, 4)}
        )
        frame.to_json(tmp_path / f"{number}.json", orient="records", lines=True)
    return str(tmp_path)


def test_json(backend, json_folder):
    shards = read_json(
        json_folder, orient="columns" if backend == "spark" else "records", lines=True
    )
    assert len(shards) == 6
    assert shards.num_partitions() == 2
    assert shards.first().columns.tolist() == ["timestamp", "value"]


def test_json_columns(spark_backend, json_folder):
    assert read_json(json_folder, names=["time", "value"]).first().columns.tolist() == [
        "time",
        "value",
    ]
    assert read_json(json_folder, usecols=[0]).first().columns.tolist() == ["timestamp"]
    assert (
        read_json(json_folder, dtype={"value": "float"}).first()["value"].dtype
        == "float64"
    )
    with pytest.raises(RuntimeError, match="lines can only be True"):
        read_json(json_folder, lines=False)


def test_parquet(sc, tmp_path, expected):
    for number, frame in enumerate(expected):
        frame.to_parquet(tmp_path / f"{number}.parquet")
    folder = str(tmp_path)
    for csv in tmp_path.glob("*.csv"):
        csv.unlink()
    check(read_parquet(folder), expected)
    assert read_parquet(folder).num_partitions() == 2
    some = read_parquet(folder, columns=["ID", "sale_price"]).first()
    assert some.columns.tolist() == ["ID", "sale_price"]
    typed = read_parquet(
        folder, columns=["ID"], schema="ID int, sale_price double"
    ).first()
    assert typed["ID"].dtype == "int32"
    with pytest.raises(FileNotFoundError, match="Path does not exist"):
        read_parquet(str(tmp_path / "nothing"))


def test_parquet_with_a_struct_type(sc, tmp_path, expected):
    types = pytest.importorskip("pyspark.sql.types")
    expected[0].to_parquet(tmp_path / "0.parquet")
    schema = types.StructType(
        [
            types.StructField("ID", types.LongType()),
            types.StructField("sale_price", types.FloatType()),
        ]
    )
    found = read_parquet(str(tmp_path / "0.parquet"), schema=schema).first()
    assert found.columns.tolist() == ["ID", "sale_price"]
    assert found["sale_price"].dtype == "float32"


def test_spark_frames_become_shards(sc):
    import pyarrow as pa

    from xshards.compat.exports.data_utils import spark_df_to_pd_sparkxshards

    class SparkFrame:
        def toArrow(self):
            return pa.table({"a": list(range(10)), "b": list("abcdefghij")})

    shards = spark_df_to_pd_sparkxshards(SparkFrame())
    assert shards.num_partitions() == 2
    assert len(shards) == 10
    OrcaContext._shard_size = 3
    sized = spark_df_to_pd_sparkxshards(SparkFrame(), index_col="a")
    assert [len(df) for df in sized.collect()] == [3, 3, 2, 2]
    assert sized.first().index.name == "a"
    with pytest.raises(TypeError, match="expected a Spark DataFrame"):
        spark_df_to_pd_sparkxshards(1)


@pytest.mark.parametrize("first", ["spark", "pandas"])
def test_failure_names_the_other_backend(sc, tmp_path, first):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4,5,6\n")
    OrcaContext.pandas_read_backend = first
    with pytest.raises(Exception) as caught:
        read_csv(str(tmp_path / "a.csv")).collect()
    other = {"spark": "pandas", "pandas": "spark"}[first]
    assert any(f"backend = '{other}'" in note for note in caught.value.__notes__)


def test_names_tell_that_there_is_no_header(spark_backend, tmp_path):
    (tmp_path / "a.csv").write_text("1,x\n2,y\n")
    found = read_csv(str(tmp_path / "a.csv"), names=["a", "b"])
    assert found.collect()[0].to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
    schema = read_csv(str(tmp_path / "a.csv"), names="a int, b string")
    assert len(schema) == 2
    assert schema.first()["a"].dtype == "int32"


def test_separators_of_several_characters(spark_backend, tmp_path):
    (tmp_path / "ratings.dat").write_text("1::10::5\n2::20::3\n")
    path = str(tmp_path / "ratings.dat")
    options = {"sep": "::", "names": ["user", "item", "rating"], "usecols": [0, 1]}
    assert read_csv(path, **options).first().to_dict("list") == {
        "user": [1, 2],
        "item": [10, 20],
    }
    assert read_csv(path, sep="::", header=None).first().columns.tolist() == [
        "0",
        "1",
        "2",
    ]
