#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs what the named sets need: tools/install.sh [build|test|lint|fuzz]...
# Debian packages come from requirements/<set>.debian (only those missing; needs root or sudo), Python packages from
# requirements/<set>.txt into .venv. A set that is there already costs one look.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "install: $*" >&2; }

missing_packages() { # package...
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
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
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Debian splits its Python into packages; any other Python brings venv and headers along.
install_python() {
  local prefix
  prefix=$("${PYTHON:-python3}" -c 'import sys; print(sys.base_prefix)' 2>/dev/null || echo /usr)
  [ "$prefix" != /usr ] || install_packages python3 python3-dev python3-venv
}

make_venv() {
  local python=${PYTHON:-python3} stage=$PWD/build/release/python site
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { say "$python is older than 3.10"; exit 1; }
  say "making .venv with $("$python" --version)"
  "$python" -m venv --clear .venv
  # The built package (cmake/python.cmake) is seen by this environment; PYTHONPATH puts another build before it.
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$stage" >"$site/stoker-build.pth"
}

install_python_set() { # set
  local stamp=.venv/installed-$1 key
  key=$(cat "requirements/$1"*.txt tools/install.sh tools/make_empty_cuda.py | sha256sum)
  [ "$(cat "$stamp" 2>/dev/null)" != "$key" ] || return 0
  say "Python packages of requirements/$1.txt"
  .venv/bin/python -m pip install -q --disable-pip-version-check -r "requirements/$1.txt"
  if [ -f "requirements/$1-no-deps.txt" ]; then
    .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps -r "requirements/$1-no-deps.txt"
    .venv/bin/python tools/make_empty_cuda.py
  fi
  echo "$key" >"$stamp"
}

packages=()
for set in "$@"; do
  [ -f "requirements/$set.debian" ] || { say "no set named '$set'"; exit 2; }
  mapfile -t -O ${#packages[@]} packages <"requirements/$set.debian"
done
install_packages "${packages[@]}"
# An environment from another place or of a Python that has gone does not start.
if ! .venv/bin/python -c '' 2>/dev/null || [ "$(cat .venv/place 2>/dev/null)" != "$PWD" ]; then
  install_python
  make_venv
  echo "$PWD" >.venv/place
fi
for set in "$@"; do
  [ ! -f "requirements/$set.txt" ] || install_python_set "$set"
done
