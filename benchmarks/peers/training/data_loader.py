# SPDX-License-Identifier: Apache-2.0
"""One process with torch's DataLoader, as tutorials have it; no workers is its best."""

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
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    path, kind, rows, batch_size, epochs = arguments()
    torch.set_num_threads(THREADS)
    x, y = load_rows(path, rows)
    data = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    loader = DataLoader(data, batch_size, shuffle=True)
    model = torch_model(kind)
    optimizer, criterion = adam(model), torch.nn.MSELoss()

    def run_epoch(number: int) -> None:
        torch.manual_seed(number)
        for features, labels in loader:
            loss = criterion(model(features), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    rate = time_epochs(epochs, run_epoch, len(x))
    tell(rate, torch_loss(model, x, y))


if __name__ == "__main__":
    main()
