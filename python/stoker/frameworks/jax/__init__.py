# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Iterators that give JAX arrays. Users import ``stoker.jax`` and ``stoker.jax.clu``."""
