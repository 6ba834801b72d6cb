# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the conformance tests of readers read: one module for each reader.

The module of ``readers.file`` is ``readers_file.py``. Its ``make(folder, count)`` writes a store of
``count`` samples, each with other bytes, and returns a ``Store`` (``common.py``). More stores of the
same reader, such as compressed ones, are further functions that are listed in its ``VARIANTS``.
"""
