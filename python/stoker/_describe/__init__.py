# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Describes operators to Python: their table, names, signatures and docstrings."""
