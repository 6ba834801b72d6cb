# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Words of a command line as values; argparse reports what they refuse."""

from __future__ import annotations

import argparse
import math


def count(word: str) -> int:
    """A whole number of at least 1."""
    number = int(word) if word.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {word!r}")
    return number


def amount(word: str) -> float:
    """A finite number above 0."""
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {word!r}")
    return number
