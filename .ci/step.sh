#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one step of a make target: prints its label and its seconds, and keeps its output
# in build/logs. A step that fails prints the end of its log. V=1 shows all output.
# Usage: step.sh [--quiet] [--show <regex>] <label> <command>...
# --quiet: print nothing unless the step fails.
# --show: print the lines of the log that match, such as the result of a test run.
set -uo pipefail
quiet=0 show=
while [[ $1 == --* ]]; do
  case $1 in
    --quiet) quiet=1 ;;
    --show)
      show=$2
      shift
      ;;
  esac
  shift
done
label=$1
shift
if [[ -n ${V-} && $V != 0 ]]; then
  echo "=== $label: $*"
  exec "$@"
fi

log=build/logs/$(tr -cs 'a-z+' - <<<"${label,,}")
log=${log%-}.log
mkdir -p build/logs
: >"$log"
tail_lines=60

# The last counter in the log: ninja's [12/284], pytest's [ 45%], ctest's 12/96 Test.
counter() {
  tail -c 4096 "$log" | tr '\r' '\n' |
    grep -aoE '\[ *[0-9]+(/[0-9]+|%)\]|^ *[0-9]+/[0-9]+ Test ' | tail -1 | tr -d '[] Test'
}

# Rewrites the line every second, on a terminal only.
ticker=
if ((!quiet)); then
  printf '%s … ' "$label"
  if [[ -t 1 ]]; then
    while sleep 1; do printf '\r\e[K%s … %d s  %s' "$label" "$SECONDS" "$(counter)"; done &
    ticker=$!
    trap 'kill "$ticker" 2>/dev/null' EXIT
  fi
fi

"$@" >"$log" 2>&1 </dev/null
status=$?

if [[ -n $ticker ]]; then
  kill "$ticker" 2>/dev/null
  wait "$ticker" 2>/dev/null
  trap - EXIT
  printf '\r\e[K%s … ' "$label"
fi
if ((status)); then
  ((quiet)) && printf '%s … ' "$label"
  echo "failed after $SECONDS s"
  tail -n "$tail_lines" "$log"
  echo "The whole log: $PWD/$log"
  exit "$status"
fi
((quiet)) || echo "$SECONDS s"
if [[ -n $show ]]; then
  grep -aE -- "$show" "$log"
fi
exit 0
