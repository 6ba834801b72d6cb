#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the missing environments of peers in build/compare, and races them by bench/compare/race.py
# with the arguments: --parts starts,race,two,epochs, --peers dali,opencv, --rounds N, --data FOLDER
# (--help lists all). With `sounds` as the first argument, runs bench/sounds.py beside librosa and
# torchaudio.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ ! -x build/release/bench_limit ]; then
  echo "compare: 'make compare' builds what is needed first" >&2
  exit 1
fi

if [ "${1:-}" = sounds ]; then
  bench/compare/environment.sh sounds
  PYTHONPATH=build/release/python exec build/compare/sounds/bin/python bench/sounds.py "${@:2}"
fi
bench/compare/environment.sh dali torchvision opencv tfdata spdl
exec .venv/bin/python bench/compare/race.py "$@"
