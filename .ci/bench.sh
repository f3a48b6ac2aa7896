#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Micro-benchmarks of the release build, then the comparison with other engines.
# Arguments go to the comparison's runner; results are kept in build/bench/.
set -euo pipefail
mkdir -p build/bench
for binary in build/release/benchmarks/xshards_*_benchmark; do
  [[ -x $binary ]] || continue
  "$binary" --benchmark_out="build/bench/$(basename "$binary").json" \
    --benchmark_out_format=json
done
exec .venv/bin/python benchmarks/peers/run.py --peer-python .venv-peers/bin/python "$@"
