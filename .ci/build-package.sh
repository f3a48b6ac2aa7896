#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Leaves an importable xshards in .venv: Python files are used where they stand, the
# extension module and the engine library are installed next to pyarrow.
# pip sets this up once; afterwards only what changed is compiled and copied.
set -euo pipefail
venv=.venv build=build/dev
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
stamp=$venv/.installed-xshards
wanted=$(cat "${BASH_SOURCE[0]}" pyproject.toml | sha256sum)

.ci/compile.sh dev _core
if [[ -d $site/xshards && -f $stamp && $(<"$stamp") == "$wanted" ]]; then
  .ci/step.sh --quiet "install package" \
    cmake --install "$build" --component python --prefix "$site"
else
  .ci/step.sh "install package" "$venv/bin/python" -m pip install \
    --disable-pip-version-check -v --no-build-isolation --no-deps -e .
  echo "$wanted" >"$stamp"
fi
