#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the micro-benchmarks of the release build; results are kept in build/bench/.
# Arguments go to each program: benchmarks/micro.sh --benchmark_filter=Sort
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build/bench
for binary in build/release/benchmarks/xshards_*_benchmark; do
  "$binary" --benchmark_out="build/bench/$(basename "$binary").json" \
    --benchmark_out_format=json "$@"
done
