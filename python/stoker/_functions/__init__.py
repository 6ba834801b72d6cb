# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The user's own functions in a graph: ``fn.python_function`` and its relatives.

``nodes`` makes the operators' functions, ``forms`` says how each of them calls the user's, and
``functions`` are all of a pipeline: it learns their types, and keeps their states.
"""
