# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JAX: ``DataIterator`` and DALI's iterators and decorator give arrays; ``jax_function`` makes an
operator of a function.
"""

from __future__ import annotations

from stoker.frameworks.jax.decorator import Given, make_decorator
from stoker.frameworks.jax.function import jax_function
from stoker.frameworks.jax.iterators import DALIGenericIterator, DataIterator, LastBatchPolicy

__all__ = [
    "DALIGenericIterator",
    "DataIterator",
    "LastBatchPolicy",
    "data_iterator",
    "jax_function",
]

data_iterator = make_decorator(
    DALIGenericIterator,
    Given,
    "data_iterator",
    """Turns a function that defines a pipeline into one that returns a ``DALIGenericIterator``.

    The new function takes the arguments of the old one and, as keywords, the settings of
    ``Pipeline``. With ``sharding`` or ``devices`` it makes a pipeline for each part of the batch.
    ``batch_size`` is then the size of the whole batch, and the old function must take ``shard_id``
    and ``num_shards`` and give them to its reader. With ``checkpoints=`` the iterator continues
    where the ``checkpoints()`` of another iterator were taken.

        @data_iterator(output_map=["image", "label"], reader_name="reader")
        def training(root):
            encoded, label = fn.readers.file(file_root=root, name="reader")
            return fn.resize(fn.decoders.image(encoded), size=[224, 224]), label

        for step in training("pictures", batch_size=32):
            ...
    """,
)
