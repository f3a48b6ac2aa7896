# SPDX-License-Identifier: Apache-2.0
"""The code blocks on XShards of Orca's guide run as they are.

Each is a file of `seed_scripts`. What a block uses and does not define comes from a
prelude, paths are replaced by ones that exist, and a few lines of checks follow.
"""

from pathlib import Path

import pandas as pd
import pytest

BLOCKS = Path(__file__).with_name("seed_scripts")

READ = "from zoo.orca.data.pandas import read_csv\nshard = read_csv({path!r})\n"


@pytest.fixture
def weather(tmp_path):
    folder = tmp_path / "csv"
    folder.mkdir()
    for number in range(3):
        frame = pd.DataFrame(
            {"location": list("abca"), "value": [number, 1.5, -2, 0], "n": range(4)}
        )
        frame.to_csv(folder / f"{number}.csv", index=False)
    return str(folder)


def block(name):
    return (BLOCKS / f"{name}.py").read_text()


def test_every_block_is_run():
    names = {path.stem for path in BLOCKS.glob("*.py")}
    assert names == {
        "partition_arrays",
        "read_csv",
        "transform_frames",
        "global_operations",
        "pytorch_data_loader",  # these two in test_seed_pytorch.py
        "pytorch_data_creator",
        # In test_seed_tensorflow.py.
        *("tensorflow_dataset", "tensorflow_data_creator", "tensorflow_data_frame"),
        "tfpark_training_data",
        *("tfpark_model", "tfpark_training", "tfpark_checkpoint"),
        *("tfpark_testing_data", "tfpark_restored_model", "tfpark_prediction"),
    }


def test_partition_arrays(run_script):
    run_script(
        block("partition_arrays")
        + """
shards = train_shards.collect()
whole = np.concatenate([shard["x"] for shard in shards])
assert np.array_equal(whole, train_images)
assert sum(len(shard["y"]) for shard in shards) == 20
assert train_shards.num_partitions() == len(shards)
"""
    )


def test_read_csv(run_script, weather):
    text = block("read_csv").replace("/path/to/csv_file_or_folder", weather)
    done = run_script(text + "\nprint(len(shard), shard.num_partitions())")
    assert done.stdout.split() == ["12", "3"]


def test_transform_frames(run_script, weather):
    done = run_script(
        READ.format(path=weather)
        + block("transform_frames")
        + "\nprint(sum(df['value'].sum() for df in train_shards.collect()))"
    )
    assert float(done.stdout) == -(3 + 3 * 1.5 - 6)


def test_global_operations(run_script, weather):
    done = run_script(
        READ.format(path=weather)
        + block("global_operations")
        + "\nprint(*location_list)"
    )
    assert done.stdout.split() == ["a", "b", "c"]
