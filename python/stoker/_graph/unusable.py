# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The value of a name that a conditional leaves without one."""

from __future__ import annotations

from typing import Any, NoReturn

from stoker.errors import GraphError


class Unusable:
    """Raises a ``GraphError`` that says why, wherever it is used."""

    def __init__(self, why: str) -> None:
        object.__setattr__(self, "why", why)

    def __repr__(self) -> str:
        return f"<{object.__getattribute__(self, 'why')}>"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise GraphError(object.__getattribute__(self, "why"))

    __getattr__ = __setattr__ = __call__ = __iter__ = __len__ = __getitem__ = _refuse
    __bool__ = __index__ = __float__ = __int__ = __contains__ = __setitem__ = _refuse
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _refuse
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _refuse
    __and__ = __or__ = __xor__ = __rand__ = __ror__ = __rxor__ = __rpow__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __pos__ = __neg__ = __invert__ = __abs__ = _refuse
    __hash__ = object.__hash__


def refuse_unusable(value: Any) -> None:
    """Raises the ``GraphError`` of a value that has none; does nothing for any other."""
    if type(value) is Unusable:
        value._refuse()
