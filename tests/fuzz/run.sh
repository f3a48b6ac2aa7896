#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer of build/fuzz for a number of seconds each; fails at the first crash,
# whose input is left in build/fuzz/found. What they learn is kept in build/fuzz/corpus.
# Usage: tests/fuzz/run.sh <seconds>
set -euo pipefail
seconds=$1 build=build/fuzz
# Arrow's own allocators would hide from the address sanitizer.
export ARROW_DEFAULT_MEMORY_POOL=system
for fuzzer in "$build"/tests/fuzz/*_fuzz; do
  name=$(basename "$fuzzer")
  corpus=$build/corpus/$name
  mkdir -p "$corpus" "$build/found"
  log=$build/$name.log
  if ! "$fuzzer" "$corpus" -max_total_time="$seconds" -max_len=2048 -timeout=10 \
    -rss_limit_mb=2048 -dict="tests/fuzz/${name%%_*}.dict" -artifact_prefix="$build/found/$name-" \
    -print_final_stats=1 >"$log" 2>&1; then
    tail -50 "$log"
    echo "$name failed: see $log and $build/found" >&2
    exit 1
  fi
  echo "$name: $(grep -o 'number_of_executed_units: .*' "$log")"
done
