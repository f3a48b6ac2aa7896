#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Leaves a portable wheel in dist/.
set -euo pipefail
venv=$PWD/.venv made=build/wheelhouse
rm -rf "$made" dist

# From the objects that make build and make test have compiled. auditwheel removes this
# machine's path to Arrow, which the consumer test needs; pip wheel alone never writes it.
.ci/compile.sh dev _core
.ci/step.sh "wheel" "$venv/bin/python" -m pip wheel --disable-pip-version-check -v \
  --no-deps --no-build-isolation -C build-dir=build/dev \
  -C cmake.define.XSHARDS_PORTABLE=OFF -w "$made" .
# Arrow's libraries are those of the installed pyarrow; all others travel in the wheel.
PATH=$venv/bin:$PATH .ci/step.sh "auditwheel" "$venv/bin/auditwheel" repair -w dist \
  --exclude 'libarrow*' --exclude 'libparquet*' "$made"/*.whl
