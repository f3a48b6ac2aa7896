# SPDX-License-Identifier: Apache-2.0
"""MultiWorkerMirroredStrategy of TensorFlow: two workers, each with half of a batch."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time

WORKERS = 2


def main() -> None:
    if "TF_CONFIG" in os.environ:
        work()
        return
    addresses = [f"localhost:{port}" for port in free_ports(WORKERS)]
    workers = []
    for index in range(WORKERS):
        task = {"type": "worker", "index": index}
        config = {"cluster": {"worker": addresses}, "task": task}
        environment = {
            **os.environ,
            "TF_CONFIG": json.dumps(config),
            "TF_USE_LEGACY_KERAS": "1",
        }
        out = None if index == 0 else subprocess.DEVNULL
        workers.append(
            subprocess.Popen([sys.executable, *sys.argv], env=environment, stdout=out)
        )
    sys.exit(max(worker.wait() for worker in workers))


def free_ports(count: int) -> list[int]:
    listeners = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in listeners]
    for one in listeners:
        one.close()
    return ports


def work() -> None:
    import tensorflow as tf
    import tf_keras
    from keras_task import STEPS_PER_EXECUTION, load_data, make_model, measured_loss
    from task import arguments, tell

    path, kind, rows, batch_size, epochs = arguments()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    x, y = load_data(path, kind, rows)
    own = slice(index, len(x) // WORKERS * WORKERS, WORKERS)
    with strategy.scope():
        model = make_model(tf_keras, kind, steps_per_execution=STEPS_PER_EXECUTION)
    # Batches of a distributed dataset are global; each worker reads rows of its own.
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = (
        tf.data.experimental.AutoShardPolicy.OFF
    )
    share = batch_size // WORKERS
    count = len(x[own]) // share
    batches = tf.data.Dataset.from_tensor_slices((x[own], y[own]))
    batches = batches.batch(share, drop_remainder=True).cache()
    batches = batches.shuffle(count).prefetch(tf.data.AUTOTUNE).with_options(options)
    distributed = strategy.distribute_datasets_from_function(lambda _: batches.repeat())
    model.fit(distributed, epochs=1, steps_per_epoch=count, verbose=0)
    begin = time.perf_counter()
    model.fit(distributed, epochs=epochs, steps_per_epoch=count, verbose=0)
    rate = count * batch_size * epochs / (time.perf_counter() - begin)
    copy = make_model(tf_keras, kind)
    copy.set_weights(model.get_weights())
    tell(rate, measured_loss(copy, x, y))


if __name__ == "__main__":
    main()
