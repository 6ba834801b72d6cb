# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JAX arrays: ``DataIterator``, and the iterators and the decorator of the established names."""

from __future__ import annotations

from stoker.frameworks.jax.decorator import given, make_decorator
from stoker.frameworks.jax.iterators import DALIGenericIterator, DataIterator, LastBatchPolicy

__all__ = ["DALIGenericIterator", "DataIterator", "LastBatchPolicy", "data_iterator"]

data_iterator = make_decorator(
    DALIGenericIterator,
    given,
    "data_iterator",
    """Makes a function that defines a pipeline into one that gives a ``DALIGenericIterator``.

    The new function takes the arguments of the old one and, as keywords, the settings of
    ``Pipeline``. With ``sharding`` or ``devices`` there is a pipeline for each part; ``batch_size``
    is then that of the whole batch, and the function takes ``shard_id`` and ``num_shards`` for its
    reader. ``checkpoints=`` begins where an iterator's ``checkpoints()`` were taken.

        @data_iterator(output_map=["image", "label"], reader_name="reader")
        def training(root):
            encoded, label = fn.readers.file(file_root=root, name="reader")
            return fn.resize(fn.decoders.image(encoded), size=[224, 224]), label

        for step in training("pictures", batch_size=32):
            ...
    """,
)
