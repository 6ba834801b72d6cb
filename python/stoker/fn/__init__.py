# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The operators: ``fn.resize``, ``fn.readers.file``, ``fn.random.uniform`` …

Every function is made, when first asked for, from what the engine says of its operators; nothing
is listed here.
"""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any

from stoker._names import did_you_mean
from stoker._operator import make_function
from stoker._registry import operators

# Names that scripts written years ago still use.
_OLD_NAMES = {
    "audio_decoder": "decoders.audio",
    "caffe2_reader": "readers.caffe2",
    "caffe_reader": "readers.caffe",
    "coco_reader": "readers.coco",
    "coin_flip": "random.coin_flip",
    "file_reader": "readers.file",
    "image_decoder": "decoders.image",
    "image_decoder_crop": "decoders.image_crop",
    "image_decoder_random_crop": "decoders.image_random_crop",
    "image_decoder_slice": "decoders.image_slice",
    "mxnet_reader": "readers.mxnet",
    "normal_distribution": "random.normal",
    "numpy_reader": "readers.numpy",
    "sequence_reader": "readers.sequence",
    "tfrecord_reader": "readers.tfrecord",
    "uniform": "random.uniform",
    "video_reader": "readers.video",
}


class _Folder(ModuleType):
    """A submodule such as ``fn.readers``."""

    def __init__(self, dotted: str) -> None:
        super().__init__(f"{__name__}.{dotted}", f"The operators ``fn.{dotted}.*``.")
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return _find(self, name)

    def __dir__(self) -> list[str]:
        return _names_in(self)


def _prefix(module: ModuleType) -> str:
    return (module.__name__ + ".").removeprefix(__name__ + ".")


def _names_in(module: ModuleType) -> list[str]:
    prefix = _prefix(module)
    return sorted({n[len(prefix) :].partition(".")[0] for n in operators() if n.startswith(prefix)})


def _find(module: ModuleType, name: str) -> Any:
    wanted = _prefix(module) + name
    if wanted in operators():
        function = _made(wanted)
        setattr(module, name, function)
        return function
    new_name = _OLD_NAMES.get(wanted, "")
    if new_name in operators():
        warnings.warn(f"fn.{name} is now called fn.{new_name}", DeprecationWarning, stacklevel=3)
        return _made(new_name)
    raise AttributeError(_missing(wanted, name), name=name, obj=module)


def _made(name: str) -> Any:
    op = operators()[name]
    if op["kind"] == "input":
        from stoker import _external_source

        return _external_source.make_function(op)
    return make_function(op)


def _missing(wanted: str, name: str) -> str:
    if name.startswith("__"):
        return f"no attribute '{name}'"
    elsewhere = [n for n in operators() if n.rpartition(".")[2] == name]
    hint = f" Did you mean '{elsewhere[0]}'?" if elsewhere else did_you_mean(wanted, operators())
    return f"there is no operator 'fn.{wanted}'.{hint}"


def _make_folders() -> None:
    for name in operators():
        parts = name.split(".")[:-1]
        parent: ModuleType = sys.modules[__name__]
        for depth, part in enumerate(parts, start=1):
            dotted = ".".join(parts[:depth])
            folder = sys.modules.get(f"{__name__}.{dotted}")
            if folder is None:
                folder = sys.modules[f"{__name__}.{dotted}"] = _Folder(dotted)
                setattr(parent, part, folder)
            parent = folder


def __getattr__(name: str) -> Any:
    return _find(sys.modules[__name__], name)


def __dir__() -> list[str]:
    return _names_in(sys.modules[__name__])


_make_folders()
