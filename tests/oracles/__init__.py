# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Independent answers: a module for each operator, of its name with ``_`` for the dot.

``expected(inputs, layout, *, chance, **arguments)`` gives the answer, an array or a list of them.
``inputs`` are arrays, ``layout`` is that of the first one, or "" if it has none. Only random
operators take ``chance``, the draws of the sample.

``generate(rng)`` yields odd calls, each ``(inputs, layout, arguments)``. The layout may be a list
with one for each input, and begins with F where a sequence is the input. ``flip.py`` is a short
example. ``common.to_dtype`` rounds and saturates as Stoker does.

``refused()`` may yield calls that break a rule of the operator's own, each ``(inputs, layout,
arguments, words)``, where the error has these words. ``lookup_table.py`` is an example.

An operator that sees whole batches has ``expected_batch(samples, layout, *, chances,
**arguments)`` in the place of ``expected``: ``samples`` has the inputs of each sample and
``chances`` its draws, and the answer has a list of outputs for each. ``generate_batches(rng)``
yields calls with such a batch, each ``(samples, layouts, arguments)``, and ``refused_batches()``
wrong ones with the words of their errors. ``permute_batch.py`` is an example.

``TOLERANCE``, a ``common.Tolerance``, is there where the answer is not exact.
"""
