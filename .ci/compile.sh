#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and compiles one preset, or only some of its targets.
# Usage: compile.sh <preset> [<target>...]; the target build.ninja only configures
set -euo pipefail
preset=$1 build=build/$1
shift
step=.ci/step.sh

# Configuring again is needed only once: ninja does it when a CMake file changes.
if [[ ! -f $build/build.ninja || CMakePresets.json -nt $build/build.ninja ]]; then
  $step "configure $preset" cmake --preset "$preset"
  touch "$build/build.ninja"
fi
# New and removed files are noticed first, so that the count below is right.
$step --quiet "configure $preset" ninja -C "$build" build.ninja
[[ ${1-} != build.ninja ]] || exit 0
# Under its own name ninja would only say that it might have to configure again.
cp "$build/build.ninja" "$build/count.ninja"
count=$(ninja -C "$build" -f count.ninja -n "$@" | sed -nE '$s/^\[[0-9]+\/([0-9]+)\].*/\1/p')
if [[ -n $count ]]; then
  $step "compile $preset, $count files" \
    ninja -C "$build" -j "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" "$@"
fi
