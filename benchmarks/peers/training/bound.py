# SPDX-License-Identifier: Apache-2.0
"""The upper bound for all engines: two processes that only compute gradients.

Each takes its half of every batch, forward and backward, with one thread. Nothing is
exchanged and no weight changes, so nothing is learned: this is the time that replicas
of this model need on these cores before any of them has told another a thing.
"""

from __future__ import annotations

import json

import torch
import torch.multiprocessing as processes
from task import THREADS, arguments, load_rows, time_epochs, torch_model


def compute(rank: int, ranks: int, rates: processes.SimpleQueue[float]) -> None:
    path, kind, rows, batch_size, epochs = arguments()
    torch.set_num_threads(max(1, THREADS // ranks))
    x, y = load_rows(path, rows)
    features, labels = torch.from_numpy(x), torch.from_numpy(y)
    model, criterion = torch_model(kind), torch.nn.MSELoss()
    share = batch_size // ranks

    def run_epoch(number: int) -> None:
        torch.manual_seed(number)
        for index in torch.randperm(len(features)).split(batch_size):
            mine = index[rank * share : (rank + 1) * share]
            output = model(features.index_select(0, mine))
            loss = criterion(output, labels.index_select(0, mine))
            model.zero_grad()
            loss.backward()

    rates.put(time_epochs(epochs, run_epoch, len(x)))


def main() -> None:
    rates: processes.SimpleQueue[float] = processes.get_context("spawn").SimpleQueue()
    processes.spawn(compute, (2, rates), nprocs=2)
    # Synchronous replicas are as fast as the slower one.
    print(json.dumps({"rate": min(rates.get(), rates.get())}))


if __name__ == "__main__":
    main()
