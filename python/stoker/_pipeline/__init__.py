# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The pipeline: a graph with settings that is built, run and saved."""
