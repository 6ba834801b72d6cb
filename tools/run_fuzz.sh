#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs fuzz targets of build/fuzz: tools/run_fuzz.sh SECONDS_EACH [TARGET...], or all of them where
# none is named. They begin with fuzz/seeds/<target>. The inputs that they find are kept in
# fuzz/corpus/<target>, and those that break something in fuzz/corpus/<target>-*.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:?usage: $0 SECONDS_EACH [TARGET...]}
shift
[ $# -gt 0 ] || set -- $(basename -s .cc fuzz/*_fuzz.cc)
for name; do
  mkdir -p "fuzz/corpus/$name"
  words=()
  [ ! -f "fuzz/$name.dict" ] || words=("-dict=fuzz/$name.dict")
  echo "fuzz: $name for $seconds s"
  "build/fuzz/$name" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=20 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="fuzz/corpus/$name-" "${words[@]}" \
    "fuzz/corpus/$name" "fuzz/seeds/$name"
done
