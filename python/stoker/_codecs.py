# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which formats this build decodes."""

from __future__ import annotations

from typing import NamedTuple

from stoker import _core


class Codec(NamedTuple):
    """A format.

    ``format`` is its name in errors, ``kind`` is "picture", "sound" or "compression". ``is_there``
    is False where its library was missing when Stoker was built or, if it is one that is opened at
    run time, is missing now. ``package`` is the Debian package of that library; "" where none is
    needed.
    """

    format: str
    kind: str
    is_there: bool
    package: str


def codecs() -> list[Codec]:
    """The formats that the decoders know. A file's content says which picture or sound it is."""
    return [Codec(**codec) for codec in _core.codecs()]
