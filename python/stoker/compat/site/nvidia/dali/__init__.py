# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Stands for the established library in processes that a script starts."""

import sys

from stoker import compat

compat.install()
sys.modules[__name__] = compat.module("")
