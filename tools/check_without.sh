#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the codecs without one library after the other, and checks that all tests of codecs pass
# and errors name the Debian package: tools/check_without.sh [FORMAT...], else one format of every
# library but JPEG's, which Stoker needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/.venv/bin:$PATH
if [ $# -eq 0 ]; then
  mapfile -t formats < <(grep -rhoP '^// Codec of \K.*(?=, by [^ ]+ \(.*\)\.$)' src/codec |
    sed -E 's/(, | and ).*//' | grep -vx JPEG | sort)
  set -- "${formats[@]}"
fi
for format; do
  echo "without $format"
  cmake --preset release -B build/without -DSTOKER_WITHOUT="$format" -DSTOKER_TESTS=ON \
    -DSTOKER_PYTHON=OFF >/dev/null 2>&1
  ninja --quiet -C build/without stoker_codec_test
  STOKER_WITHOUT=$format build/without/stoker_codec_test --gtest_brief=1
done
