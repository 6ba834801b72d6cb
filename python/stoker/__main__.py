# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m stoker`` is the command ``stoker``."""

from __future__ import annotations

import sys

from stoker._cli.main import main

if __name__ == "__main__":
    sys.exit(main())
