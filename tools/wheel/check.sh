#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Checks the wheels of build/wheels where nothing but Python is: in bare trees of Debian 12 and 13,
# each goes into a fresh environment and runs the first page of the guides, `stoker check` and
# `stoker bench`. Other Pythons than Debian's are those of interpreter.sh. A wheel for ARM64 runs in
# QEMU, beside Debian's Python for it. Needs root, for debootstrap and chroot. The trees stay in
# build/trees.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
trees=$PWD/build/trees
mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources | head -1)
# The libraries of pictures and sounds that the codecs' first lines name: avif|tiff|...
codecs=$(sed -nE 's/^\/\/ Codec of .*, by (lib)?([a-z]+).* \(.*/\2/p' \
  src/codec/{formats,jpeg,jpeg2000,png,sound}/*_codec.cc | paste -sd"|")
mkdir -p "$trees"
trap 'rm -rf "$trees"/run.*' EXIT

make_tree() { # suite
  local root=$trees/$1
  if [ ! -e "$root/ready" ]; then
    rm -rf "$root"
    debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv "$1" "$root" \
      "$mirror" >"$trees/$1.log"
    touch "$root/ready"
  fi
  # The way to the package index is that of this machine.
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
}

# Runs the check in a throw-away copy of the tree.
check_in() { # suite wheel python
  local suite=$1 wheel=$2 python=$3 work
  work=$(mktemp -d -p "$trees" run.XXXX)
  mkdir -p "$work"/{up/check,wk,m}
  cp -r "$wheel" build/pictures docs/guide/first-pipeline.md tools/wheel/first_page.py \
    "$work/up/check/"
  echo "== $suite, $python, $(basename "$wheel")"
  unshare -m bash -euc '
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/up,workdir=$2/wk" "$2/m"
    mount -t proc proc "$2/m/proc"
    mount --rbind /dev "$2/m/dev"
    if [ "${3#/}" != "$3" ]; then  # one of this machine
      home=$(dirname "$(dirname "$3")")
      mkdir -p "$2/m$home"
      mount --bind "$home" "$2/m$home"
    fi
    chroot "$2/m" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/bin:/bin \
      PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 \
      bash -euc "
        cd /check
        dpkg -l | grep -Eo \"lib($4|png)[^ ]*\" && exit 1
        $3 -m venv env
        env/bin/pip -q install --only-binary :all: ./*.whl
        env/bin/python -c \"
import time; began = time.perf_counter(); import stoker
print(f\\\"import {(time.perf_counter() - began) * 1000:.0f} ms\\\")\"
        env/bin/python -I first_page.py first-pipeline.md
        env/bin/stoker check pictures
        env/bin/stoker bench pictures --seconds 1 --threads 1,2
        env/bin/stoker info | sed -n \"1,9p\"
      "
  ' - "$trees/$suite" "$work" "$python" "$codecs"
}

# Without chroot, since the kernel does not know of QEMU: what the tree lacks is found outside.
check_arm64() { # wheel version
  local tree=$trees/arm64 site=$trees/arm64-site here=$PWD python=(qemu-aarch64-static)
  echo "== ARM64, $(basename "$1")"
  tools/install.sh arm64
  tools/arm64_root.sh build/trees/arm64 python3 libstdc++6
  rm -rf "$site"
  .venv/bin/python -m pip install -q --disable-pip-version-check --target "$site" --python-version \
    "$2" --only-binary :all: --platform manylinux_2_34_aarch64 --platform manylinux_2_28_aarch64 \
    --platform manylinux2014_aarch64 "$1" pillow
  python+=(-L "$tree" -E "PYTHONPATH=$site" "$tree/usr/bin/python$2" -s)
  (cd build && "${python[@]}" "$here"/{tools/wheel/first_page.py,docs/guide/first-pipeline.md})
  "${python[@]}" -m stoker check build/pictures
  "${python[@]}" -m stoker info | sed -n 1,9p
}

[ -d build/pictures ] || .venv/bin/python examples/synthetic_photos.py build/pictures 24
for wheel in build/wheels/*.whl; do
  # stoker-0.1.0-cp313-cp313t-...: 3.13t
  version=$(basename "$wheel" | sed -E 's/.*-cp3([0-9]+t?)-[^-]*$/3.\1/')
  case $wheel in
    *_aarch64.whl) check_arm64 "$wheel" "$version"; continue ;;
  esac
  for suite in bookworm trixie; do
    make_tree "$suite"
    python=python3
    if [ "$(chroot "$trees/$suite" python3 -c 'import sys; print("3.%d" % sys.version_info[1])')" \
      != "$version" ]; then
      python=$(tools/wheel/interpreter.sh "$version")
    fi
    check_in "$suite" "$wheel" "$python"
  done
done
