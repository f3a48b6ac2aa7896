# SPDX-License-Identifier: Apache-2.0
"""Runs one engine on one task, in the process that the runner measures.

Tells the runner how far it is, one line of JSON each on a pipe of its own (engines
print to stdout), and waits for a line on stdin where the runner has something to do
meanwhile. Started by run.py with the engine's own interpreter.
"""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import importlib.util
import json
import os
import resource
import sys
import time
import traceback
from typing import Any

from tasks import TASKS, peer_path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    parser.add_argument("engine")
    parser.add_argument("--files", type=json.loads, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--pipe", type=int, required=True)
    args = parser.parse_args()

    pipe = os.fdopen(args.pipe, "w", buffering=1)

    def tell(event: str, **details: Any) -> None:
        pipe.write(json.dumps({"event": event, **details}) + "\n")

    # No engine gets more cores than it was told, whatever it does with `threads`.
    cores = sorted(os.sched_getaffinity(0))[: args.threads]
    os.sched_setaffinity(0, cores)
    try:
        run(args, tell)
    except Exception as error:
        summary = f"{type(error).__name__}: {error}"
        tell("failed", error=summary, traceback=traceback.format_exc())
    pipe.close()


def run(args: argparse.Namespace, tell: Any) -> None:
    peer = load_peer(args.task, args.engine)
    state = peer.load(args.files, args.threads)
    tell("loaded", version=importlib.metadata.version(args.engine))
    sys.stdin.readline()  # the runner has begun to watch memory

    value = peer.run(state)
    tell("ran")
    sys.stdin.readline()  # the runner has seen the memory with the result in it

    seconds = []
    for _ in range(args.repeat):
        del value
        gc.collect()
        start = time.perf_counter()
        value = peer.run(state)
        seconds.append(time.perf_counter() - start)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    tell("timed", seconds=seconds, maxrss=usage.ru_maxrss * 1024)

    from digest import summarize

    task = TASKS[args.task]
    summary = summarize(peer.result(value), task.check, list(task.keys))
    details = peer.details(state) if hasattr(peer, "details") else {}
    tell("checked", summary=summary, details=details)
    if hasattr(peer, "close"):
        peer.close(state)


def load_peer(task: str, engine: str) -> Any:
    """Load an engine's code, such as peers/<task>/<engine>.py.

    It is kept out of sys.modules, so that its functions travel to worker processes by
    value: they could not import it, and its name is that of the engine.
    """
    path = peer_path(task, engine)
    spec = importlib.util.spec_from_file_location(f"peer_{task}_{engine}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
