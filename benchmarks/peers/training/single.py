# SPDX-License-Identifier: Apache-2.0
"""One process that indexes tensors in memory: the plain loop, with two threads."""

from __future__ import annotations

import torch
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


def main() -> None:
    path, kind, rows, batch_size, epochs = arguments()
    torch.set_num_threads(THREADS)
    x, y = load_rows(path, rows)
    features, labels = torch.from_numpy(x), torch.from_numpy(y)
    model = torch_model(kind)
    optimizer, criterion = adam(model), torch.nn.MSELoss()

    def run_epoch(number: int) -> None:
        torch.manual_seed(number)
        for index in torch.randperm(len(features)).split(batch_size):
            output = model(features.index_select(0, index))
            loss = criterion(output, labels.index_select(0, index))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    rate = time_epochs(epochs, run_epoch, len(x))
    tell(rate, torch_loss(model, x, y))


if __name__ == "__main__":
    main()
