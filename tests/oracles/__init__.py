# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""By operator, in a module of its name with ``_`` for the dot:

``expected(inputs, layout, *, chance, **arguments)``: an independent answer, an array or a list of
them. ``inputs`` are arrays, ``layout`` the first one's, "" where it has none; ``chance``, of random
operators alone, are the draws that the sample is to have.

``generate(rng)``: yields odd calls, each ``(inputs, layout, arguments)``; a list of layouts is one
an input. ``flip.py`` is a short example.

``TOLERANCE``, a ``common.Tolerance``: where the answer is not exact.
"""
