# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Data from the user's own Python: ``fn.external_source`` and ``Pipeline.feed_input``.

The way of a batch through the modules: ``external_source`` makes the nodes and tells the pipeline's
``inputs`` about the source, as a ``SourceGroup``. When the pipeline runs, the thread of ``feeder``
asks each ``runner`` for its next batch. The runner calls the source through ``caller``, in this
process or, with ``parallel=True``, as a ``parallel_runner`` in the processes of a ``worker_pool``.
These run ``worker`` and write into ``shared`` memory. ``arrays`` converts the batch for the engine.
"""
