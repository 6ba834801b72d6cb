#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks Debian's ARM64 builds of the libraries that Stoker links into build/arm64-root. The
# machine's own libraries stay as they are. Does nothing if that was done before. Those that
# need many others are left out: that build has no TIFF, AVIF, HEIF and JPEG XL.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD/build/arm64-root
packages=(libc6 libgcc-s1 libstdc++6 libjpeg62-turbo{,-dev}
  libisal2 libisal-dev libwebp7 libwebp-dev libopenjp2-7{,-dev} libhwy1 libhwy-dev libgtest-dev
  libsimdjson14 libsimdjson-dev libpugixml1v5 libpugixml-dev libprotozero-dev)
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
(cd "$root/apt" && apt-get download -qq "${packages[@]}")
for package in "$root"/apt/*.deb; do dpkg-deb -x "$package" "$root"; done
echo "${packages[*]}" >"$root/packages"
