#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Checks Stoker on this machine's GPU: ./run.sh [--simulated] [--part PART] [--out result.json].
# check.py explains the options. Nothing is installed or compiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
version=$(cat python_version)
python=${PYTHON:-$(command -v "python$version" || command -v python3 || true)}
[ -n "$python" ] || { echo "run.sh: no Python here; PYTHON= names one, best $version" >&2; exit 1; }
exec "$python" check.py "$@"
