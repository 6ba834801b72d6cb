#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds libtiff of Debian's source package without JBIG, whose library is under the GPL and so must
# not go into a wheel: tools/wheel/tiff.sh FOLDER [OPTION OF CMAKE...] leaves
# FOLDER/lib/libtiff.so.6. What is already there is kept.
set -euo pipefail
to=$(realpath -m "$1")
shift
[ ! -e "$to/lib/libtiff.so.6" ] || exit 0
work=$to/source
rm -rf "$to"
mkdir -p "$work"
cd "$work"
# The sources of the distribution that runs, whether or not its own lists name them.
mkdir lists
sed 's/^Types: .*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >sources.sources
apt=(-o "Dir::Etc::sourcelist=$work/sources.sources" -o Dir::Etc::sourceparts=/dev/null
     -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)
apt-get "${apt[@]}" update -qq
apt-get "${apt[@]}" source -qq tiff
cmake -S tiff-*/ -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$to" \
  -DCMAKE_INSTALL_LIBDIR=lib -Djbig=OFF -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF \
  -Dtiff-docs=OFF -Dcxx=OFF -Dld-version-script=ON "$@"
cmake --build build
cmake --install build
