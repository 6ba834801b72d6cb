#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs every built fuzz target: tools/run_fuzz.sh SECONDS_EACH. The inputs that it finds are kept in
# fuzz/corpus/<target>.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:?usage: $0 SECONDS_EACH}
for source in fuzz/*.cc; do
  name=$(basename "$source" .cc)
  mkdir -p "fuzz/corpus/$name"
  echo "fuzz: $name for $seconds s"
  "build/fuzz/$name" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=20 -verbosity=0 \
    -print_final_stats=1 "fuzz/corpus/$name"
done
