# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline's settings: the table that describes them, and what follows from it."""
