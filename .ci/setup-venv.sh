#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a virtual environment with the pinned packages; returns at once when a run with
# the same files has finished before.
# Usage: setup-venv.sh <python> <venv> [--torch | --own-pins] <requirements.txt>...
# --own-pins: the files pin all that they need, which python/constraints.txt would exclude.
# A file named *-alone.txt is installed without the dependencies of its packages.
set -euo pipefail
python=$1 venv=$2
shift 2
torch=0
constraints=python/constraints.txt
case $1 in
  --torch)
    torch=1
    shift
    ;;
  --own-pins)
    constraints=/dev/null
    shift
    ;;
esac

# Each set of requirement files has its own stamp, inside the environment it describes.
stamp=$venv/.installed-$(basename -s .txt "${@: -1}")
wanted=$(cat "${BASH_SOURCE[0]}" "$constraints" "$@" | sha256sum)
[[ -x $venv/bin/python && -f $stamp && $(<"$stamp") == "$wanted" ]] && exit 0

"$python" -c 'import sys; raise SystemExit(sys.version_info < (3, 11) and
    "Python 3.11 or newer is needed; name one with make PYTHON=...")'

install() {
  set -euo pipefail
  [[ -x $venv/bin/python ]] || "$python" -m venv "$venv"
  local pip=("$venv/bin/python" -m pip install --disable-pip-version-check -q -c "$constraints")
  if ((torch)); then
    # First and alone: asked for by another package, torch would bring its CUDA build.
    "${pip[@]}" "$(grep '^torch==' "$constraints")"
  fi
  local file
  for file in "$@"; do
    if [[ $file == *-alone.txt ]]; then
      "${pip[@]}" --no-deps -r "$file"
    else
      "${pip[@]}" -r "$file"
    fi
  done
}
export -f install
export python venv constraints torch
.ci/step.sh "python packages, $venv" bash -c 'install "$@"' install "$@"
echo "$wanted" >"$stamp"
