# SPDX-License-Identifier: Apache-2.0
"""Two processes of DistributedDataParallel over gloo, each indexing tensors in memory.

The best that DDP can do: no DataLoader, gradients as views of the buckets, fused Adam.
"""

from __future__ import annotations

import json
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from task import (
    THREADS,
    adam,
    arguments,
    load_rows,
    tell,
    time_epochs,
    torch_loss,
    torch_model,
)


def rank_main(rank: int, ranks: int, store: str, output: str) -> None:
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=ranks
    )
    told = train(rank, ranks)
    if rank == 0:
        with open(output, "w") as file:  # noqa: PTH123
            json.dump(told, file)
    # The model is deleted by now: with one alive, this teardown sometimes hangs.
    dist.barrier()
    dist.destroy_process_group()


def train(rank: int, ranks: int) -> tuple[float, float]:
    path, kind, rows, batch_size, epochs = arguments()
    torch.set_num_threads(max(1, THREADS // ranks))
    x, y = load_rows(path, rows)
    features, labels = torch.from_numpy(x), torch.from_numpy(y)
    module = torch_model(kind)
    model = torch.nn.parallel.DistributedDataParallel(
        module, gradient_as_bucket_view=True
    )
    optimizer, criterion = adam(model), torch.nn.MSELoss()
    share = batch_size // ranks

    def run_epoch(number: int) -> None:
        # All ranks draw the same order, and take their part of each batch of it.
        torch.manual_seed(number)
        for index in torch.randperm(len(features)).split(batch_size):
            mine = index[rank * share : (rank + 1) * share]
            if len(mine) == 0:
                mine = index[:1]
            loss = criterion(
                model(features.index_select(0, mine)), labels.index_select(0, mine)
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    rate = time_epochs(epochs, run_epoch, len(x))
    return rate, torch_loss(module, x, y)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        output = f"{directory}/output.json"
        processes.spawn(rank_main, (2, f"{directory}/store", output), nprocs=2)
        with open(output) as file:  # noqa: PTH123
            tell(*json.load(file))


if __name__ == "__main__":
    sys.exit(main())
