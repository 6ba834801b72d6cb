#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks packages of Debian's ARM64, with all that they need, into a folder: tools/arm64_root.sh
# [FOLDER PACKAGE...]; else the libraries that Stoker links, and Python, into build/arm64-root. Does
# nothing if that was done before.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD/${1:-build/arm64-root}
packages=("${@:2}")
[ $# -gt 0 ] || mapfile -t packages < <(
  grep -hE -- '^lib.*-dev$|^nlohmann' requirements/{build,test}.debian
  printf '%s\n' python3 libpython3-dev
)
[ "$(cat "$root/packages" 2>/dev/null)" != "${packages[*]}" ] || exit 0

rm -rf "$root"
mkdir -p "$root"/apt/{lists/partial,archives/partial}
touch "$root/apt/status"
cat >"$root/apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State::Lists "$root/apt/lists";
Dir::State::status "$root/apt/status";
Dir::Cache "$root/apt";
END
export APT_CONFIG=$root/apt/apt.conf
apt-get update -qq
apt-get install -qq --yes --download-only --no-install-recommends "${packages[@]}" >/dev/null
# The cross compiler brings the C library's headers itself.
rm -f "$root"/apt/archives/libc6-dev_*
for package in "$root"/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
# Links from / on would lead out of the folder.
find "$root" -lname '/*' -print0 | while IFS= read -rd '' link; do
  ln -sfrn "$root$(readlink "$link")" "$link"
done
echo "${packages[*]}" >"$root/packages"
