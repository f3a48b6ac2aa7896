# SPDX-License-Identifier: Apache-2.0
"""The plain C kernel: python plain.py <build directory> <replicas> <count> <steps>."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
from timing import Times, local_gradient


def main() -> None:
    replicas, count, steps = map(int, sys.argv[2:])
    library = Path(sys.argv[1]) / "plain.so"
    source = Path(__file__).with_suffix(".c")
    flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-pthread"]
    subprocess.run(["cc", *flags, "-o", library, source, "-lm"], check=True)
    plain_adam = ctypes.CDLL(library).plain_adam

    local = [local_gradient(replica, count) for replica in range(replicas)]
    gradients = [np.zeros(count, np.float32) for _ in local]
    weights, mean, square = (np.zeros(count, np.float32) for _ in range(3))
    pointer = ctypes.POINTER(ctypes.c_float)
    table = (pointer * replicas)(*(g.ctypes.data_as(pointer) for g in gradients))
    vectors = [array.ctypes.data_as(pointer) for array in (weights, mean, square)]
    times = Times()
    for step in range(1, steps + 1):
        for gradient, values in zip(gradients, local, strict=True):
            gradient[:] = values
        with times:
            plain_adam(
                ctypes.c_int64(count), ctypes.c_int32(replicas), table, *vectors, step
            )
    times.tell(weights)


if __name__ == "__main__":
    main()
