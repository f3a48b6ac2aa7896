#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries the wheel of dist/ in an environment that has nothing besides the wheel and the
# packages it requires.
# Usage: test-wheel.sh <python>
set -euo pipefail
python=$1 venv=build/wheel-venv
rm -rf "$venv"

.ci/step.sh "clean environment" bash -c "'$python' -m venv '$venv' &&
  '$venv/bin/python' -m pip install --disable-pip-version-check -q \
    -c python/constraints.txt dist/*.whl"
.ci/step.sh --show '^wheel:' "wheel test" \
  "$venv/bin/python" -I tests/wheel/check_wheel.py dist/*.whl
