# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the conformance tests of readers read: one module for each reader.

The module of ``readers.file`` is ``readers_file.py``. Its ``VARIANTS`` are functions that write a
store of ``count`` samples, each with other bytes, into a folder, and return a ``Store``
(``common.py``).
"""
