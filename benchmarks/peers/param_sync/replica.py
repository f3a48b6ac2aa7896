# SPDX-License-Identifier: Apache-2.0
"""One replica of ours: python replica.py <fd> <replica> <count> <steps>."""

from __future__ import annotations

import sys

from timing import Times, local_gradient

from xshards import _core


def main() -> None:
    fd, replica, count, steps = map(int, sys.argv[1:])
    local = local_gradient(replica, count)
    client = _core.ReplicaClient.attach(fd, replica)
    gradient, weights = client.gradient(0), client.weights(0)
    times = Times()
    for _ in range(steps):
        gradient[:] = local
        with times:
            update(client, rows=1)
        # A step without rows changes nothing: a barrier, so that no replica's next
        # gradient takes the core of one that has not seen the weights yet.
        update(client, rows=0)
    times.tell(weights)


def update(client: _core.ReplicaClient, rows: int) -> None:
    client.push(rows)
    if client.wait(60) != "ready":
        sys.exit("no update within a minute")


if __name__ == "__main__":
    main()
