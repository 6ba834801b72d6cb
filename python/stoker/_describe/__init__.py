# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Describing operators to Python: their table, names, signatures and docstrings."""
