# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Iterators that give a framework's own tensors.

``_iterator.BaseIterator`` handles names, sizes, policies, resets and state. The module of a
framework derives from it and supplies ``to_tensor``. Users import the public modules:
``stoker.torch``, ``stoker.numpy``, ``stoker.jax``, ``stoker.mxnet`` and ``stoker.tensorflow``.
"""
