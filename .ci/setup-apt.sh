#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages the build needs and this machine lacks.
# Usage: setup-apt.sh <python> [java | clang]
set -euo pipefail
python=$1

packages=(ccache libbenchmark-dev libfccp-dev libgmock-dev libgtest-dev liblzma-dev
  libtbb-dev libxsimd-dev libxtensor-dev ninja-build)

# A Python from elsewhere brings these two itself; Debian packs them apart.
if command -v "$python" >/dev/null; then
  version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  "$python" -c 'import ensurepip' 2>/dev/null || packages+=("$version-venv")
  "$python" -c 'import os, sysconfig as s; raise SystemExit(
      not os.path.exists(os.path.join(s.get_path("include"), "Python.h")))' ||
    packages+=("$version-dev")
else
  packages+=(python3.11-venv python3.11-dev)
fi
if [[ ${2-} == java ]] && ! command -v java >/dev/null; then
  packages+=(openjdk-17-jre-headless)
fi
if [[ ${2-} == clang ]]; then
  packages+=(clang-14 libclang-rt-14-dev)
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ((EUID == 0)); then
  sudo=()
elif sudo -n true 2>/dev/null; then
  sudo=(sudo -n)
else
  echo "These Debian packages are missing and there is no root access. Please run:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
.ci/step.sh "apt package lists" "${sudo[@]}" apt-get update -q
.ci/step.sh "apt packages" \
  "${sudo[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
