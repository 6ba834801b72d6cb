# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Iterators that give a framework's own tensors.

``_iterator.BaseIterator`` owns names, sizes, policies, resets and state; a framework's module
derives from it and supplies ``to_tensor``. Use the public modules: ``stoker.torch`` and its like.
"""
