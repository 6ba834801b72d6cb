# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JAX: iterators whose steps are its arrays. Use ``stoker.jax`` and ``stoker.jax.clu``."""
