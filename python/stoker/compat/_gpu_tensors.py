# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches and tensors on a GPU with DALI's methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stoker.compat._tensors import TensorCPU, TensorListCPU

if TYPE_CHECKING:
    from stoker import Batch


class TensorGPU(TensorCPU):
    """One tensor on the GPU. Raises ``TypeError`` for data in host memory."""

    @classmethod
    def _check_place(cls, data: Any) -> None:
        require_on_gpu(data, cls.__name__)

    def device_id(self) -> int:
        """The number of the GPU."""
        return device_id(self._data.device)

    def as_cpu(self) -> TensorCPU:
        """A copy in host memory."""
        return TensorCPU(self._data.as_cpu(), self._layout)


class TensorListGPU(TensorListCPU):
    """The samples of one output of one step, on the GPU. Raises ``TypeError`` for host memory."""

    @classmethod
    def _check_place(cls, data: Any) -> None:
        require_on_gpu(data, cls.__name__)

    def device_id(self) -> int:
        """The number of the GPU."""
        return device_id(self._batch.device)

    def at(self, index: int) -> TensorGPU:
        """One sample as a tensor on the same memory."""
        return self[index]

    def as_tensor(self) -> TensorGPU:
        """All samples as one tensor; they must be of one shape."""
        return TensorGPU(self._batch.as_tensor())

    def __getitem__(self, index: int) -> TensorGPU:
        return TensorGPU(self._batch[index])


def require_on_gpu(data: Any, kind: str) -> None:
    """Raises ``TypeError`` for what is no tensor or batch of a pipeline's on a GPU."""
    if isinstance(data, (TensorGPU, TensorListGPU)):
        return
    if isinstance(data, (TensorCPU, TensorListCPU)) or getattr(data, "device", "cpu") == "cpu":
        raise TypeError(
            f"{kind} expects what a pipeline made on a GPU, got a {type(data).__name__}: feed "
            f"it as {kind.replace('GPU', 'CPU')}, and copy its node by .gpu()"
        )


def device_id(device: str) -> int:
    """The number in a device's name."""
    return int(device.rpartition(":")[2])


def as_list(batch: Batch, claims: Any = None) -> TensorListCPU:
    """Gives a batch of Stoker DALI's methods, and the type that it claims to be of."""
    made = TensorListCPU(batch) if batch.device == "cpu" else TensorListGPU(batch)
    made._claimed = claims
    return made
