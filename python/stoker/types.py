# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Constants for arguments: element types, colour spaces, interpolations, layouts.

Each constant is also a ``str``: ``types.FLOAT == "float32"``, and either may be written. An
argument that takes an element type also takes a NumPy or PyTorch dtype.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    import numpy

    from stoker._graph.node import DataNode


class _Text(str, Enum):
    def __int__(self) -> int:
        """The number that the established library gives it."""
        return list(type(self)).index(self)

    @classmethod
    def _missing_(cls, value: object) -> _Text | None:
        return next((m for m in cls if type(value) is int and int(m) == value), None)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        return f"types.{self.name}"


class DType(_Text):
    """The type of a tensor's elements."""

    NO_TYPE = "none"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT16 = "float16"
    FLOAT = "float32"
    FLOAT64 = "float64"
    BOOL = "bool"

    def __int__(self) -> int:
        """The number that the established library gives it: 0 for ``UINT8``, -1 for ``NO_TYPE``."""
        return super().__int__() - 1

    def __call__(self) -> str:
        """A letter, as in ``struct``: what ``tensor.dtype()`` gave when it was a method."""
        import numpy

        return "=" + numpy.dtype(self.value).char.replace("l", "q").replace("L", "Q")


class ImageType(_Text):
    """The meaning of an image's channels. ``ANY_DATA`` keeps the channels of the file.

    ``CLASSES`` is for masks: one channel, with the number that the file holds for each pixel.
    """

    RGB = "RGB"
    BGR = "BGR"
    GRAY = "GRAY"
    YCbCr = "YCbCr"
    ANY_DATA = "ANY_DATA"
    CLASSES = "CLASSES"


class InterpType(_Text):
    """The filter that computes values between pixels."""

    INTERP_NN = "INTERP_NN"
    INTERP_LINEAR = "INTERP_LINEAR"
    INTERP_CUBIC = "INTERP_CUBIC"
    INTERP_LANCZOS3 = "INTERP_LANCZOS3"
    INTERP_TRIANGULAR = "INTERP_TRIANGULAR"
    INTERP_GAUSSIAN = "INTERP_GAUSSIAN"


class SampleInfo(NamedTuple):
    """The sample that the source of an ``external_source`` is asked for; all numbers begin at 0."""

    idx_in_epoch: int
    idx_in_batch: int
    iteration: int
    epoch_idx: int


class BatchInfo(NamedTuple):
    """The batch that the source of an ``external_source`` is asked for; both numbers begin at 0."""

    iteration: int
    epoch_idx: int


DALIDataType = DType
DALIImageType = ImageType
DALIInterpType = InterpType

UINT8 = DType.UINT8
INT8 = DType.INT8
UINT16 = DType.UINT16
INT16 = DType.INT16
UINT32 = DType.UINT32
INT32 = DType.INT32
UINT64 = DType.UINT64
INT64 = DType.INT64
FLOAT16 = DType.FLOAT16
FLOAT = DType.FLOAT
FLOAT64 = DType.FLOAT64
BOOL = DType.BOOL
NO_TYPE = DType.NO_TYPE

RGB = ImageType.RGB
BGR = ImageType.BGR
GRAY = ImageType.GRAY
YCbCr = ImageType.YCbCr
ANY_DATA = ImageType.ANY_DATA
CLASSES = ImageType.CLASSES

INTERP_NN = InterpType.INTERP_NN
INTERP_LINEAR = InterpType.INTERP_LINEAR
INTERP_CUBIC = InterpType.INTERP_CUBIC
INTERP_LANCZOS3 = InterpType.INTERP_LANCZOS3
INTERP_TRIANGULAR = InterpType.INTERP_TRIANGULAR
INTERP_GAUSSIAN = InterpType.INTERP_GAUSSIAN

CPU_ONLY_DEVICE_ID = -99999

# Layouts describe one sample. DALI's names for them also count the axis of the batch.
NHWC = "HWC"
NCHW = "CHW"
NFHWC = "FHWC"
NFCHW = "FCHW"


def __getattr__(name: str) -> NoReturn:
    from stoker._describe.other_names import OTHER_CONSTANTS
    from stoker._messages import did_you_mean

    hint = did_you_mean(name, [n for n in globals() if n[0].isupper()])
    if name in OTHER_CONSTANTS:
        hint = f" Did you mean '{OTHER_CONSTANTS[name]}'?"
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'.{hint}", name=name)


def to_numpy_type(dtype: DType | str) -> type[numpy.generic]:
    """The NumPy scalar type of an element type, e.g. ``numpy.float32`` for ``types.FLOAT``."""
    import numpy

    return numpy.dtype(str(dtype)).type


def Constant(  # noqa: N802 - the established name
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    layout: str | None = None,
    device: str | None = None,
    name: str | None = None,
) -> DataNode:
    """A node that gives this value (a number, list or array) for every sample.

    ``shape`` defaults to the shape of the value. ``dtype`` defaults to the dtype of an array; for
    numbers and lists it is ``BOOL`` if all are bools, ``INT32`` if all are ints, else ``FLOAT``.
    Members of one enumeration of this module are ints. Raises ``GraphError`` for a value that holds
    anything else.
    """
    from stoker._graph.calls import constant

    return constant(value, dtype=dtype, shape=shape, layout=layout, device=device, name=name)
