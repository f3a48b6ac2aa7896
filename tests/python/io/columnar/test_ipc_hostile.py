# SPDX-License-Identifier: Apache-2.0
"""Arrow IPC and ORC files with wrong bytes: rows or an error that names the file."""

import random

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.orc as orc
import pytest
from child_process import run_in_child

READ_ALL = """
    import pathlib, sys
    import xshards as xs
    xs.init(cores=2, memory="256MB")
    read = getattr(xs, "read_" + sys.argv[2])
    for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        for act in (
            lambda shards: shards.to_pandas(),
            lambda shards: shards["s"].nunique(),
            lambda shards: shards.sort_values("s").to_arrow().validate(full=True),
            lambda shards: shards.count(),
        ):
            try:
                act(read(file))
                print("rows")
            except xs.XShardsError as error:
                print("error" if file.name in str(error) else error)
    xs.stop()
"""


def table(num_rows):
    return pa.table(
        {
            "i": pa.array(range(num_rows)),
            "s": [f"text {n % 11}" for n in range(num_rows)],
            "l": [[n] * (n % 3) for n in range(num_rows)],
        }
    )


def write_ipc(file, *, compression=None, encoded=False):
    written = table(300)
    if encoded:
        written = written.set_column(
            1, "s", written["s"].combine_chunks().dictionary_encode()
        )
    options = ipc.IpcWriteOptions(compression=compression)
    with ipc.new_file(file, written.schema, options=options) as out:
        out.write_table(written, max_chunksize=100)


WRITERS = {
    "plain": ("ipc", write_ipc),
    "lz4": ("ipc", lambda file: write_ipc(file, compression="lz4")),
    "dictionary": ("ipc", lambda file: write_ipc(file, encoded=True)),
    "orc": ("orc", lambda file: orc.write_table(table(300), file)),
}


def places(kind, whole):
    """Give the places to damage."""
    # The ORC library inside pyarrow itself crashes on some damaged stripe footers: they
    # end 295 bytes before the end of this file.
    spared = range(len(whole) - 500, len(whole) - 290) if kind == "orc" else ()
    return sorted({*range(8, len(whole))}.difference(spared))


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_never_end_the_process(tmp_path, name):
    kind, write = WRITERS[name]
    whole_file = tmp_path / "whole"
    write(whole_file)
    whole = whole_file.read_bytes()
    folder = tmp_path / "damaged"
    folder.mkdir()
    generator = random.Random(name)
    extremes = [0, 1, 0x7F, 0x80, 0xFF]
    for number in range(150):
        damaged = bytearray(whole)
        for _ in range(generator.choice([1, 1, 4])):
            at = generator.choice(places(kind, whole))
            width = generator.choice([1, 1, 8])
            value = generator.choice([*extremes, generator.randrange(256)])
            damaged[at : at + width] = bytes([value]) * width
        (folder / f"{number:03}.{kind}").write_bytes(bytes(damaged[: len(whole)]))
    outcomes = run_in_child(READ_ALL, folder, kind, timeout=300).splitlines()
    assert len(outcomes) == 600
    assert set(outcomes) == {"rows", "error"}


def test_offsets_beyond_the_text_are_an_error(tmp_path):
    """Rows refer to bytes that the file does not have."""
    folder = tmp_path / "files"
    folder.mkdir()
    texts = pa.array(["x" * 77, "y" * 22])
    indices = pa.DictionaryArray.from_arrays(
        pa.array([77, 99], pa.int32()), [f"t{n}" for n in range(100)]
    )
    for name, column in (("offsets", texts), ("indices", indices)):
        batch = pa.record_batch({"i": [1, 2], "s": column})
        sink = pa.BufferOutputStream()
        with ipc.new_file(sink, batch.schema) as out:
            out.write_batch(batch)
        data = sink.getvalue().to_pybytes()
        written = b"\x4d\0\0\0\x63\0\0\0"  # 77 and 99
        assert data.count(written) == 1
        data = data.replace(written, b"\x4d\0\0\0\xff\xff\xff\x0f")
        (folder / f"{name}.ipc").write_bytes(data)
    outcomes = run_in_child(READ_ALL, folder, "ipc").splitlines()
    # Counting reads another column.
    assert outcomes == ["error", "error", "error", "rows"] * 2
