# SPDX-License-Identifier: Apache-2.0
"""Ray Train: two workers of DDP, each indexing tensors in memory."""

from __future__ import annotations

import json
import tempfile

import ray
import ray.train
import torch
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model
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


def train(config: dict) -> None:
    path, kind, rows, batch_size, epochs = config["arguments"]
    context = ray.train.get_context()
    rank, ranks = context.get_world_rank(), context.get_world_size()
    torch.set_num_threads(max(1, THREADS // ranks))
    x, y = load_rows(path, rows)
    features, labels = torch.from_numpy(x), torch.from_numpy(y)
    module = torch_model(kind)
    model = prepare_model(module)
    optimizer, criterion = adam(model), torch.nn.MSELoss()
    share = batch_size // ranks

    def run_epoch(number: int) -> None:
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
    if rank == 0:
        with open(config["output"], "w") as file:  # noqa: PTH123
            json.dump([rate, torch_loss(module, x, y)], file)


def main() -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    with tempfile.TemporaryDirectory() as directory:
        output = f"{directory}/output.json"
        TorchTrainer(
            train,
            train_loop_config={"arguments": arguments(), "output": output},
            scaling_config=ScalingConfig(num_workers=2),
            run_config=RunConfig(storage_path=directory),
        ).fit()
        with open(output) as file:  # noqa: PTH123
            tell(*json.load(file))
    ray.shutdown()


if __name__ == "__main__":
    main()
