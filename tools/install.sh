#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs what the named sets need: tools/install.sh [build|test|frameworks|mxnet|lint|fuzz]...
# Missing Debian packages of requirements/<set>.debian are installed, which needs root or sudo.
# Python packages of requirements/<set>.txt go into .venv, or for MXNet, which needs an old NumPy,
# into .venv-mxnet. A set that is already there takes no time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "install: $*" >&2; }

missing_packages() { # package...
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      echo "$package"
  done
}

install_packages() { # package...
  local missing run=()
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: make sure that there is something like $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "as root, first: apt-get install ${missing[*]}"; exit 1; }
    run=(sudo)
  fi
  say "Debian packages ${missing[*]}"
  "${run[@]}" apt-get update -qq
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Debian splits its Python into packages. Any other Python comes with venv and headers.
install_python() {
  local prefix
  prefix=$("${PYTHON:-python3}" -c 'import sys; print(sys.base_prefix)' 2>/dev/null || echo /usr)
  [ "$prefix" != /usr ] || install_packages python3 python3-dev python3-venv
}

make_venv() { # environment python
  local stage=$PWD/build/release/python site
  say "making $1 with $("$2" --version)"
  "$2" -m venv --clear "$1"
  # This environment imports the built package (cmake/python.cmake), or another by PYTHONPATH.
  site=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$stage" >"$site/stoker-build.pth"
  echo "$PWD" >"$1/place"
}

# An environment does not work if it was moved, or if its Python is gone.
is_usable() { # environment
  "$1/bin/python" -c '' 2>/dev/null && [ "$(cat "$1/place" 2>/dev/null)" = "$PWD" ]
}

# It has the Python that the module is built for, at most 3.11: MXNet's last NumPy has no later one.
prepare_mxnet() {
  if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info >= (3, 12))'; then
    say "no MXNet: it needs Python 3.11 at most, and .venv has $(.venv/bin/python --version)"
    return 1
  fi
  is_usable .venv-mxnet ||
    make_venv .venv-mxnet "$(.venv/bin/python -c 'import sys; print(sys._base_executable)')"
}

install_python_set() { # set environment
  local stamp=$2/installed-$1 pip=("$2/bin/python" -m pip -q --disable-pip-version-check) key
  key=$(cat "requirements/$1"*.txt tools/install.sh tools/make_empty_cuda.py | sha256sum)
  [ "$(cat "$stamp" 2>/dev/null)" != "$key" ] || return 0
  say "Python packages of requirements/$1.txt"
  "${pip[@]}" install -r "requirements/$1.txt"
  if [ -f "requirements/$1-no-deps.txt" ]; then
    "${pip[@]}" install --no-deps -r "requirements/$1-no-deps.txt"
  fi
  [ "$1" != test ] || .venv/bin/python tools/make_empty_cuda.py
  echo "$key" >"$stamp"
}

packages=()
for set in "$@"; do
  [ -n "$(compgen -G "requirements/$set.*")" ] || { say "no set named '$set'"; exit 2; }
  [ ! -f "requirements/$set.debian" ] ||
    mapfile -t -O ${#packages[@]} packages <"requirements/$set.debian"
done
install_packages "${packages[@]}"
if ! is_usable .venv; then
  install_python
  python=${PYTHON:-python3}
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    { say "$python is older than 3.10"; exit 1; }
  make_venv .venv "$python"
fi
for set in "$@"; do
  environment=.venv
  if [ "$set" = mxnet ]; then
    prepare_mxnet || continue
    environment=.venv-mxnet
  fi
  [ ! -f "requirements/$set.txt" ] || install_python_set "$set" "$environment"
done
