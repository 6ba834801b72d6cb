# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of iterators: the table that describes them, and what follows from it."""
