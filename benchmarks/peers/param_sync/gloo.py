# SPDX-License-Identifier: Apache-2.0
"""One rank of torch.distributed: python gloo.py <file> <rank> <ranks> <count> <steps>
<threads> <bucket elements, 0 for one whole all-reduce>.
"""

from __future__ import annotations

import sys

import torch
import torch.distributed as dist
from timing import Times, local_gradient


def main() -> None:
    rank, ranks, count, steps, threads, bucket = map(int, sys.argv[2:])
    torch.set_num_threads(threads)
    dist.init_process_group(
        "gloo", init_method=f"file://{sys.argv[1]}", rank=rank, world_size=ranks
    )
    # Each rank's share is divided beforehand: the sum is the average, at no cost.
    local = torch.from_numpy(local_gradient(rank, count)) / ranks
    parameter = torch.nn.Parameter(torch.zeros(count))
    parameter.grad = torch.zeros(count)
    optimizer = torch.optim.Adam([parameter], lr=1e-3, fused=True)
    parts = parameter.grad.split(bucket) if bucket else [parameter.grad]
    times = Times()
    for _ in range(steps):
        parameter.grad.copy_(local)
        dist.barrier()
        with times:
            for work in [dist.all_reduce(part, async_op=True) for part in parts]:
                work.wait()
            optimizer.step()
        dist.barrier()  # as in replica.py
    times.tell(parameter.detach().numpy())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
