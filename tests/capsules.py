# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A consumer of DLPack capsules, written with ctypes."""

from __future__ import annotations

import ctypes
from typing import Any

_NAMES = (b"dltensor", b"dltensor_versioned")
_api = ctypes.pythonapi
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


class Taken:
    """A tensor taken out of a capsule. It belongs to the taker until ``let_go()``.

    ``device`` is (type, number), ``dtype`` (code, bits), ``flags`` None without a version.
    """

    def __init__(self, capsule: Any) -> None:
        self._name = next(n for n in _NAMES if _api.PyCapsule_IsValid(capsule, n))
        self._address = _api.PyCapsule_GetPointer(capsule, self._name)
        _api.PyCapsule_SetName(capsule, b"used_" + self._name)
        kind = _Versioned if self._name == _NAMES[1] else _Managed
        managed: Any = kind.from_address(self._address)
        tensor = managed.tensor
        self._deleter = managed.deleter
        self.flags = getattr(managed, "flags", None)
        self.data = tensor.data + tensor.byte_offset
        self.device = (tensor.device_type, tensor.device_id)
        self.dtype = (tensor.code, tensor.bits)
        self.shape = tuple(tensor.shape[: tensor.ndim])
        self.strides = tuple(tensor.strides[: tensor.ndim])

    def bytes(self) -> bytes:
        """The elements. Requires: the tensor is dense and in memory that the host can read."""
        size = self.dtype[1] // 8
        for extent in self.shape:
            size *= extent
        return ctypes.string_at(self.data, size)

    def let_go(self, locked: bool = False) -> None:
        """Calls the deleter, with or without Python's lock."""
        kind = ctypes.PYFUNCTYPE if locked else ctypes.CFUNCTYPE
        kind(None, ctypes.c_void_p)(self._deleter)(self._address)
