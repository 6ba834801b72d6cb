# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Data from the user's own Python: ``fn.external_source`` and ``Pipeline.feed_input``.

A batch's way: ``external_source`` makes the nodes and leaves a ``source_group`` with the pipeline's
``inputs``. When it runs, the thread of ``feeder`` asks each ``runner`` for its next batch; that
calls the source by ``caller``, here or, for ``parallel=True``, in the processes of ``workers``
(whose other end is ``worker``, with ``shared`` memory between). ``arrays`` hands it to the engine.
"""
