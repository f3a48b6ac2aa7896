# SPDX-License-Identifier: Apache-2.0
"""TFRecord files: protobuf and TensorBoard's checksums are the oracles."""

import gzip
import struct
from pathlib import Path
from unittest.mock import ANY

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

import xshards as xs


def _message_classes():
    """Define the messages of tf.train.Example, as its documentation gives them."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="example_of_tests.proto", package="tests", syntax="proto3"
    )

    def add(name, *fields, parent=None):
        message = (parent.nested_type if parent else file.message_type).add(name=name)
        for number, (label, kind, of) in enumerate(fields, 1):
            message.field.add(
                name=label,
                number=number,
                type=kind,
                type_name=of if kind == field.TYPE_MESSAGE else None,
                label=field.LABEL_REPEATED
                if label in ("value", "feature")
                else field.LABEL_OPTIONAL,
            )
        return message

    add("BytesList", ("value", field.TYPE_BYTES, None))
    add("FloatList", ("value", field.TYPE_FLOAT, None))
    add("Int64List", ("value", field.TYPE_INT64, None))
    add(
        "Feature",
        ("bytes_list", field.TYPE_MESSAGE, ".tests.BytesList"),
        ("float_list", field.TYPE_MESSAGE, ".tests.FloatList"),
        ("int64_list", field.TYPE_MESSAGE, ".tests.Int64List"),
    )
    features = add(
        "Features", ("feature", field.TYPE_MESSAGE, ".tests.Features.FeatureEntry")
    )
    entry = add("FeatureEntry", parent=features)
    entry.options.map_entry = True
    entry.field.add(
        name="key", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL
    )
    entry.field.add(
        name="value",
        number=2,
        type=field.TYPE_MESSAGE,
        type_name=".tests.Feature",
        label=field.LABEL_OPTIONAL,
    )
    add("Example", ("features", field.TYPE_MESSAGE, ".tests.Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tests.Example"))


Example = _message_classes()


def encode(row):
    """Give the bytes of an Example of lists; a dict's None is a feature of no list."""
    example = Example()
    for name, values in row.items():
        feature = example.features.feature[name]
        if values is None:
            continue
        kind = values[0] if values and isinstance(values[0], type) else None
        values = values[1:] if kind else values
        kind = kind or type(values[0])
        if kind is bytes:
            feature.bytes_list.value.extend(values)
            feature.bytes_list.SetInParent()
        elif kind is float:
            feature.float_list.value.extend(values)
            feature.float_list.SetInParent()
        else:
            feature.int64_list.value.extend(values)
            feature.int64_list.SetInParent()
    return example.SerializeToString()


def decode(data):
    example = Example.FromString(data)
    row = {}
    for name, feature in example.features.feature.items():
        for kind in ("bytes_list", "float_list", "int64_list"):
            if feature.HasField(kind):
                row[name] = list(getattr(feature, kind).value)
    return row


def frame(data):
    length = struct.pack("<Q", len(data))
    return (
        length
        + struct.pack("<I", masked_crc32c(length))
        + data
        + struct.pack("<I", masked_crc32c(data))
    )


def unframe(content):
    records = []
    while content:
        (size,) = struct.unpack("<Q", content[:8])
        assert struct.unpack("<I", content[8:12])[0] == masked_crc32c(content[:8])
        data = content[12 : 12 + size]
        (crc,) = struct.unpack("<I", content[12 + size : 16 + size])
        assert crc == masked_crc32c(data)
        records.append(data)
        content = content[16 + size :]
    return records


def write(path, rows):
    path.write_bytes(b"".join(frame(encode(row)) for row in rows))
    return str(path)


def rows_of(shards):
    return shards.to_arrow().to_pylist()


ROWS = [
    {"id": [i], "x": [float(np.float32(i / 3))], "name": [f"n{i} ü".encode()]}
    for i in range(500)
]


def plain(rows):
    return [{name: values[0] for name, values in row.items()} for row in rows]


@pytest.mark.parametrize("num_partitions", [1, 3, 64])
def test_records_are_read_as_protobuf_reads_them(tmp_path, num_partitions):
    file = write(tmp_path / "a.tfrecord", ROWS)
    shards = xs.read_tfrecord(file, num_partitions=num_partitions)
    assert shards.schema.field("id").type == pa.int64()
    assert shards.schema.field("x").type == pa.float32()
    assert shards.num_partitions() >= min(num_partitions, 2)
    by_name = [dict(sorted(row.items())) for row in rows_of(shards)]
    assert by_name == [dict(sorted(row.items())) for row in plain(ROWS)]


def test_features_of_several_values_are_lists(tmp_path):
    rows = [{"x": [1.0, 2.0], "y": [1]}, {"x": [float], "y": [2]}, {"y": [3]}]
    found = rows_of(xs.read_tfrecord(write(tmp_path / "a.tfrecord", rows)))
    assert [row["x"] for row in found] == [[1.0, 2.0], [], None]
    assert [row["y"] for row in found] == [1, 2, 3]


def test_a_feature_without_a_list_is_missing(tmp_path):
    file = write(tmp_path / "a.tfrecord", [{"x": None, "y": [1]}, {"x": [b"t"]}])
    found = rows_of(xs.read_tfrecord(file))
    assert [row["x"] for row in found] == [None, b"t"]
    assert [row["y"] for row in found] == [1, None]


def test_values_outside_samples_are_found(tmp_path):
    # More than a sample of records with one value, then other features and lists.
    rows = [{"x": [1.5], "t": [b"a" * 500]} for _ in range(2000)]
    rows += [{"x": [1.0, 2.0], "new": [7]}]
    file = write(tmp_path / "a.tfrecord", rows)
    found = rows_of(xs.read_tfrecord(file, num_partitions=1))
    assert found[0]["x"] == [1.5]
    assert found[0]["new"] is None
    assert found[-1]["x"] == [1.0, 2.0]
    assert found[-1]["new"] == 7
    assert len(found) == len(rows)


def test_a_feature_of_two_kinds_names_both_files(tmp_path):
    write(tmp_path / "a.tfrecord", [{"x": [1]}])
    write(tmp_path / "b.tfrecord", [{"x": [1.5]}])
    with pytest.raises(
        TypeError, match=r"(?s)'x' holds int64 in .*a\.tf.*float.*b\.tf"
    ):
        xs.read_tfrecord(str(tmp_path))
    with pytest.raises(ValueError, match=r"feature 'x' holds float"):
        xs.read_tfrecord(str(tmp_path), schema={"x": "int64"}).to_pandas()


def test_schema_names_columns_and_types(tmp_path):
    file = write(tmp_path / "a.tfrecord", ROWS)
    shards = xs.read_tfrecord(
        file, schema={"name": "str", "other": "float32", "id": "int16"}
    )
    df = shards.to_pandas()
    assert list(df.columns) == ["name", "other", "id"]
    assert df["name"].tolist() == [f"n{i} ü" for i in range(500)]
    assert df["other"].isna().all()
    assert df["id"].tolist() == list(range(500))
    with pytest.raises(TypeError, match=r"got timestamp.*column 'when'"):
        xs.read_tfrecord(file, schema={"when": "datetime64[ns]"})


def test_text_that_is_not_utf8_is_refused(tmp_path):
    file = write(tmp_path / "a.tfrecord", [{"t": [b"\xff\xfe"]}])
    with pytest.raises(TypeError, match=r"(?i)a\.tfrecord.*utf-?8"):
        xs.read_tfrecord(file, schema={"t": "str"}).to_pandas()


def test_columns_and_limits(tmp_path):
    file = write(tmp_path / "a.tfrecord", ROWS)
    assert xs.read_tfrecord(file, columns=["x", "id"]).schema.names == ["x", "id"]
    assert len(xs.read_tfrecord(file, num_partitions=4)) == 500
    assert rows_of(xs.read_tfrecord(file).limit(3)) == [
        dict(row) for row in rows_of(xs.read_tfrecord(file))[:3]
    ]
    with pytest.raises(KeyError, match="no_such"):
        xs.read_tfrecord(file, columns=["no_such"])


def test_raw_records_and_gzip(tmp_path):
    data = [b"", b"any bytes", b"\x00" * 70000]
    content = b"".join(map(frame, data))
    (tmp_path / "a.tfrecord").write_bytes(content)
    (tmp_path / "b.gz").write_bytes(gzip.compress(content))
    (tmp_path / "c").write_bytes(gzip.compress(content))
    for name, options in [
        ("a.tfrecord", {}),
        ("b.gz", {}),
        ("c", {"compression": "gzip"}),
    ]:
        shards = xs.read_tfrecord(str(tmp_path / name), raw=True, **options)
        assert [row["record"] for row in rows_of(shards)] == data
        assert len(shards) == 3
    assert rows_of(xs.read_tfrecord(content, raw=True))[1]["record"] == b"any bytes"


@pytest.mark.parametrize("at", [3, 9, 15, -2])
def test_damage_names_the_file_and_the_byte(tmp_path, at):
    content = bytearray(frame(encode(ROWS[0])) + frame(encode(ROWS[1])))
    content[at] ^= 1
    (tmp_path / "bad.tfrecord").write_bytes(content)
    second = len(frame(encode(ROWS[0])))
    with pytest.raises(
        ValueError, match=rf"(?s)bad\.tfrecord.*byte {0 if at > 0 else second}"
    ):
        xs.read_tfrecord(str(tmp_path / "bad.tfrecord")).to_pandas()


@pytest.mark.parametrize("cut", [1, 4, 10, 30])
def test_a_truncated_file_is_an_error(tmp_path, cut):
    content = b"".join(frame(encode(row)) for row in ROWS)
    file = tmp_path / "short.tfrecord"
    file.write_bytes(content[:-cut])
    for num_partitions in (1, 5):
        with pytest.raises(ValueError, match=r"short\.tfrecord"):
            xs.read_tfrecord(str(file), num_partitions=num_partitions).to_pandas()


def test_other_messages_are_rejected(tmp_path):
    sequence = b"\x0a\x00\x12\x00"  # context and feature_lists, both empty
    for data, message in [
        (b"\xff\xff\xff", "not a tf.train.Example"),
        (sequence, "Sequence"),
    ]:
        (tmp_path / "a.tfrecord").write_bytes(frame(data))
        with pytest.raises(ValueError, match=message):
            xs.read_tfrecord(str(tmp_path / "a.tfrecord")).to_pandas()


def test_files_without_records(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(b"")
    assert len(xs.read_tfrecord(str(tmp_path))) == 0
    assert len(xs.read_tfrecord(str(tmp_path), schema={"x": "int64"})) == 0


def test_a_file_that_changed_since_it_was_planned_is_an_error(tmp_path):
    file = write(tmp_path / "a.tfrecord", ROWS)
    shards = xs.read_tfrecord(file)
    write(tmp_path / "a.tfrecord", ROWS[:100])
    with pytest.raises(OSError, match=r"a\.tfrecord"):
        shards.to_pandas()


def test_written_records_are_what_protobuf_writes(tmp_path):
    df = pd.DataFrame(
        {
            "i": pd.array([1, None, -3], dtype="Int64"),
            "u": np.array([1, 2, 3], dtype="uint8"),
            "b": [True, False, True],
            "f": [0.5, np.nan, 2.25],
            "t": ["a", None, "ü"],
            "y": [b"\x00\xff", b"", b"z"],
            "l": [[1, 2], [], [3]],
            "s": [["a"], ["b", "c"], []],
        }
    )
    shards = xs.from_pandas(df, num_partitions=2)
    paths = shards.to_tfrecord(tmp_path / "out")
    records = [
        decode(data) for path in paths for data in unframe(Path(path).read_bytes())
    ]
    assert records == [
        {
            "i": [1],
            "u": [1],
            "b": [1],
            "f": [0.5],
            "t": [b"a"],
            "y": [b"\x00\xff"],
            "l": [1, 2],
            "s": [b"a"],
        },
        {"u": [2], "b": [0], "f": [ANY], "y": [b""], "l": [], "s": [b"b", b"c"]},
        {
            "i": [-3],
            "u": [3],
            "b": [1],
            "f": [2.25],
            "t": ["ü".encode()],
            "y": [b"z"],
            "l": [3],
            "s": [],
        },
    ]
    assert np.isnan(records[1]["f"][0])  # a float of its own, unlike null


def test_unsupported_types_of_features_are_rejected(tmp_path):
    times = xs.from_pandas(pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}))
    with pytest.raises(TypeError, match="'when'"):
        times.to_tfrecord(tmp_path / "times")
    holes = xs.from_arrow(pa.table({"l": pa.array([[1, None]])}))
    with pytest.raises(ValueError, match=r"'l' has missing values inside lists"):
        holes.to_tfrecord(tmp_path / "holes")
    large = xs.from_arrow(pa.table({"u": pa.array([2**63], pa.uint64())}))
    with pytest.raises(ValueError, match="'u'"):
        large.to_tfrecord(tmp_path / "large")
    assert not any(tmp_path.rglob("*.tfrecord"))


def test_gzip_files_are_written(tmp_path):
    paths = xs.from_pandas(pd.DataFrame({"a": [1, 2]}), num_partitions=1).to_tfrecord(
        tmp_path / "out", compression="gzip"
    )
    assert paths[0].endswith(".gz")
    with gzip.open(paths[0]) as file:
        assert [decode(data) for data in unframe(file.read())] == [
            {"a": [1]},
            {"a": [2]},
        ]
    assert len(xs.read_tfrecord(tmp_path / "out")) == 2
    with pytest.raises(ValueError, match="'gzip' or None"):
        xs.from_pandas(pd.DataFrame({"a": [1]})).to_tfrecord(
            tmp_path / "no", compression="zstd"
        )


VALUES = {
    bytes: st.binary(max_size=20),
    float: st.floats(width=32, allow_nan=False),
    int: st.integers(-(2**63), 2**63 - 1),
}


@st.composite
def tables_of_lists(draw):
    kinds = draw(
        st.dictionaries(st.text(max_size=5), st.sampled_from(list(VALUES)), max_size=4)
    )
    row = st.fixed_dictionaries(
        {},
        optional={
            name: st.lists(VALUES[kind], max_size=3) for name, kind in kinds.items()
        },
    )
    return kinds, draw(st.lists(row, max_size=12))


@given(tables_of_lists(), st.integers(1, 5))
def test_any_lists_are_read_as_protobuf_reads_them(
    tmp_path_factory, table, num_partitions
):
    kinds, rows = table
    file = tmp_path_factory.mktemp("any") / "a.tfrecord"
    write(file, [{n: [kinds[n], *v] for n, v in row.items()} for row in rows])
    arrow = {bytes: pa.large_binary(), float: pa.float32(), int: pa.int64()}
    schema = pa.schema([pa.field(n, pa.list_(arrow[k])) for n, k in kinds.items()])
    shards = xs.read_tfrecord(str(file), schema=schema, num_partitions=num_partitions)
    assert len(shards) == len(rows)
    if kinds:
        assert rows_of(shards) == [{n: row.get(n) for n in kinds} for row in rows]
