# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators at once: graphs that are compiled once and called for a sample or a batch.

``compiled`` (``compiled.py``) makes a ``CompiledCall`` of a function of nodes. What all calls of a
process share, their memory and their threads, is in ``process.py``; ``kept.py`` keeps those that
were used last.
"""
