# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Conditionals on nodes: ``if``, ``a if c else b``, ``and``, ``or`` and ``not``.

``rewrite.py`` changes the code of a pipeline's function so that these ask ``branches.py``, which
answers as Python does where the condition is a Python value, and adds both sides to the graph where
it is a node.
"""
