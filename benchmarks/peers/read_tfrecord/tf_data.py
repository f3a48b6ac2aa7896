# SPDX-License-Identifier: Apache-2.0
import tensorflow as tf
from timing import report

FEATURES = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "x": tf.io.FixedLenFeature([], tf.float32),
    "v": tf.io.FixedLenFeature([16], tf.float32),
    "name": tf.io.FixedLenFeature([], tf.string),
}


@tf.function
def sums_of(batch):
    numbers = [
        tf.reduce_sum(tf.cast(batch[name], tf.float64)) for name in ("id", "x", "v")
    ]
    lengths = tf.reduce_sum(tf.strings.length(batch["name"]))
    return tf.stack([*numbers, tf.cast(lengths, tf.float64)])


def read(files):
    records = tf.data.Dataset.from_tensor_slices(files).interleave(
        tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=2
    )
    batches = (
        records.batch(4096)
        .map(lambda batch: tf.io.parse_example(batch, FEATURES), num_parallel_calls=2)
        .prefetch(4)
    )
    return [float(value) for value in sum(sums_of(batch) for batch in batches)]


if __name__ == "__main__":
    tf.config.threading.set_inter_op_parallelism_threads(2)
    tf.config.threading.set_intra_op_parallelism_threads(2)
    report(read)
