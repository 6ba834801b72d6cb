#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of a Python of some version: tools/wheel/interpreter.sh 3.13, or 3.13t for the
# free-threaded one. An installed one is taken, also one of pyenv. Any other is built into
# build/pythons, from the sources of the first Debian that has them, or of those named below.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$1
number=${version%t}

is_wanted() { # python
  "$1" -c '
import sys, sysconfig
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
sys.exit("%d.%d%s" % (*sys.version_info[:2], free) != sys.argv[1])' "$version" 2>/dev/null
}

to=$PWD/build/pythons/$version
for python in "$to/bin/python$number" "$(command -v "python$version")" \
  "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$number".*/bin/python; do
  if is_wanted "$python"; then
    "$python" -c 'import sys; print(sys._base_executable)'  # an environment has none of its own
    exit
  fi
done

work=$PWD/build/pythons/source-$version
rm -rf "$to" "$work"
mkdir -p "$work/lists"
cd "$work"
# A Debian in the making may list a version that a mirror lacks: 3.14 is asked for by its version.
if [ "$number" = 3.14 ]; then
  mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources | head -1)
  source=python3.14_3.14.7.orig.tar.xz
  /usr/lib/apt/apt-helper -o APT::Sandbox::User=root download-file \
    "$mirror/pool/main/p/python3.14/$source" "$source" \
    SHA256:3b48dac8fb59f62eaa67ac83c1eb12bda1b7a08406dd286e252c11a66be27f81 >&2
else
  for suite in bookworm trixie forky sid; do
    sed -e 's/^Types: .*/Types: deb-src/' -e "s/^Suites: .*/Suites: $suite/" -e '/^$/,$d' \
      /etc/apt/sources.list.d/debian.sources >sources.sources
    apt=(-o "Dir::Etc::sourcelist=$work/sources.sources" -o Dir::Etc::sourceparts=/dev/null
         -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)
    apt-get "${apt[@]}" update -qq
    apt-get "${apt[@]}" source -qq --download-only "python$number" >apt.log 2>&1 && break
  done
  source=$(compgen -G "python${number}_*.orig.tar.xz") ||
    { echo "cannot get Debian's sources of Python $number: $(tail -1 apt.log)" >&2; exit 1; }
fi
mkdir tree
# Without Debian's patches: they move files to where only Debian looks for them.
tar -xf "$source" -C tree --strip-components=1
cd tree
free=()
[ "$version" = "$number" ] || free=(--disable-gil)
{
  ./configure -q --prefix="$to" --without-static-libpython "${free[@]}"
  make -s -j "${JOBS:-$(nproc)}"
  make -s install
} >"$work.log" 2>&1 || { tail -30 "$work.log" >&2; exit 1; }
rm -rf "$work"
is_wanted "$to/bin/python$number"
echo "$to/bin/python$number"
