# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of each module of DALI, as Stoker provides them."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from typing import Any

from stoker._conditionals.mark import do_not_convert
from stoker.compat._report import names

# The names defined for a module here, and the module of Stoker that provides all others.
Contents = tuple[dict[str, Any], object]

# Modules of DALI, each with the module of Stoker that replaces it.
_STANDS_FOR = {
    "auto_aug": "stoker.auto_aug",
    "auto_aug.augmentations": "stoker.auto_aug.augmentations",
    "auto_aug.auto_augment": "stoker.auto_aug.auto_augment",
    "auto_aug.core": "stoker.auto_aug.core",
    "auto_aug.core._augmentation": "stoker.auto_aug.core._augmentation",
    "auto_aug.core._select": "stoker.auto_aug.core._select",
    "auto_aug.core.decorator": "stoker.auto_aug.core.decorator",
    "auto_aug.core.policy": "stoker.auto_aug.core.policy",
    "auto_aug.rand_augment": "stoker.auto_aug.rand_augment",
    "auto_aug.trivial_augment": "stoker.auto_aug.trivial_augment",
    "math": "stoker.math",
    "plugin.jax": "stoker.jax",
    "plugin.jax.clu": "stoker.jax.clu",
    "plugin.jax.iterator": "stoker.jax",
    "plugin.mxnet": "stoker.mxnet",
    "plugin.pytorch": "stoker.torch",
    "plugin.pytorch.experimental.proxy": "stoker.frameworks.torch_proxy",
    "plugin.pytorch.proxy": "stoker.frameworks.torch_proxy",
    "plugin.tf": "stoker.tensorflow",
    "tfrecord": "stoker.tfrecord",
}


# Names of these modules that Stoker has under another one.
_OTHER_NAMES = {
    "auto_aug.augmentations": {
        "poster_mask_uint8": "kept_bits",
        "sharpness_kernel": "sharpening_around_one",
        "sharpness_kernel_shifted": "sharpening",
        "shift_enhance_range": "around_one",
        "solarize_add_shift": "whole_number",
        "warp_x_param": "along_x",
        "warp_y_param": "along_y",
    },
    "auto_aug.core": {"_Augmentation": "Augmentation"},
}

_ITERATOR_DECORATORS = ("data_iterator", "peekable_data_iterator")

# Modules that are imported together with another one.
IMPORTED_WITH = {"plugin.numba": ("plugin.numba.fn.experimental",)}


def contents(dotted: str) -> Contents | None:
    """The contents of ``nvidia.dali.<dotted>``; None if there is no such module."""
    if dotted in _OWN:
        return _OWN[dotted](), None
    if dotted in ("types", "backend_impl.types"):
        return _types(dotted), importlib.import_module("stoker.types")
    if dotted in _STANDS_FOR:
        provider = importlib.import_module(_STANDS_FOR[dotted])
        other = _OTHER_NAMES.get(dotted, {})
        own = {name: getattr(provider, own) for name, own in other.items()}
        return own | _decorators_of(provider), provider
    package, _, folder = dotted.partition(".")
    return _operators(package, folder) if package in ("fn", "ops") else None


def _decorators_of(provider: object) -> dict[str, Any]:
    """The decorators of a module that make iterators, for pipelines of DALI's scripts."""
    from stoker.compat._pipeline import Pipeline

    found = {name: vars(provider)[name] for name in _ITERATOR_DECORATORS if name in vars(provider)}
    return {name: decorator.with_pipelines(Pipeline) for name, decorator in found.items()}


def _operators(package: str, folder: str) -> Contents | None:
    """``fn``, ``ops`` and their folders, including folders in which Stoker has nothing yet."""
    importlib.import_module(f"stoker.{package}")
    name = f"stoker.{package}" + (f".{folder}" if folder else "")
    if name in sys.modules:
        return _MORE_OF.get(name, dict)(), sys.modules[name]
    is_folder = any(n.startswith(f"{folder}.") for n in names()["operators"])
    return ({}, None) if is_folder else None


def _more_of_ops() -> dict[str, Any]:
    """What ``ops`` has besides operators; scripts use private names, too."""
    from stoker import DataNode
    from stoker.compat._samples import capsule_of, writable_array_of

    return {
        "_DataNode": DataNode,
        "_op_name": _operator_of_schema,
        **{f"{kind}_ops": _names_of_operators(kind) for kind in ("cpu", "gpu", "mixed")},
        "_dlpack_from_array": capsule_of,
        "_dlpack_to_array": writable_array_of,
    }


def _more_of_fn() -> dict[str, Any]:
    return {"_to_snake_case": _snake_case}


_MORE_OF: dict[str, Callable[[], dict[str, Any]]] = {
    "stoker.ops": _more_of_ops,
    "stoker.fn": _more_of_fn,
}


def _snake_case(name: str) -> str:
    """The name of a class as that of a function: ``random_bbox_crop`` for ``RandomBBoxCrop``."""
    border = r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])"
    return re.sub(border, "_", _one_word(name)).lower()


def _one_word(name: str) -> str:
    """The name with words of capitals that go together written as words are."""
    for old, new in (("BBox", "Bbox"), ("TFRecord", "Tfrecord")):
        name = name.replace(old, new)
    return name


def _operator_of_schema(schema: str, api: str = "fn") -> str:
    """The dotted name of an operator, by the one that DALI's own table has."""
    *folders, last = schema.split("__")
    return ".".join([*folders, _snake_case(last) if api == "fn" else last])


def _names_of_operators(device: str) -> Callable[[], set[str]]:
    from stoker.compat import _backend

    listed = _backend.registered(device)
    return lambda: set(listed())


def with_schema_name(function: Any, dotted: str) -> Any:
    """The function that scripts know by this name, with the name that DALI's own table has."""
    from stoker.ops._classes import class_name

    function._schema_name = class_name(dotted.removeprefix("fn.")).replace(".", "__")
    return function


def _top() -> dict[str, Any]:
    from stoker import newaxis
    from stoker.compat._pipeline import OperatorConcurrency, Pipeline, StreamPolicy, pipeline_def

    return {
        "OperatorConcurrency": OperatorConcurrency,
        "Pipeline": Pipeline,
        "StreamPolicy": StreamPolicy,
        "pipeline_def": pipeline_def,
        "newaxis": newaxis,
        "__version__": names()["version"],
        "__git_sha__": "",  # there is no such commit
        "on_demand": {"__cuda_version__": _cuda_version},
        "__file__": __file__,
    }


def _pipeline() -> dict[str, Any]:
    top = _top()
    own = ("OperatorConcurrency", "Pipeline", "StreamPolicy", "pipeline_def")
    return {**{name: top[name] for name in own}, **_data_node(), "do_not_convert": do_not_convert}


def _experimental() -> dict[str, Any]:
    return {"pipeline_def": _top()["pipeline_def"]}


def _tensors() -> dict[str, Any]:
    from stoker.compat._gpu_tensors import TensorGPU, TensorListGPU
    from stoker.compat._tensors import TensorCPU, TensorListCPU

    return {
        "TensorCPU": TensorCPU,
        "TensorGPU": TensorGPU,
        "TensorListCPU": TensorListCPU,
        "TensorListGPU": TensorListGPU,
    }


def _types(dotted: str) -> dict[str, Any]:
    from stoker.compat import _types as more

    own = {"_DALIDataType": more.DALIDataType} if dotted.startswith("backend") else {}
    return {**own, **{name: getattr(more, name) for name in more.__all__}}


# Functions of the backend that have nothing to do here, and what they return.
_OF_NO_EFFECT = {
    "GetDeviceBufferGrowthFactor": 1.0,
    "GetHostBufferGrowthFactor": 1.0,
    "GetHostBufferShrinkThreshold": 0.0,
    "PreallocateDeviceMemory": None,
    "PreallocatePinnedMemory": None,
    "ReleaseUnusedMemory": None,
    "RestrictPinnedMemUsage": None,
    "SetBufferGrowthFactor": None,
    "SetDeviceBufferGrowthFactor": None,
    "SetHostBufferGrowthFactor": None,
    "SetHostBufferShrinkThreshold": None,
}


def _cuda_version() -> int:
    from stoker.compat import _backend

    return _backend.cuda_version()


def _backend() -> dict[str, Any]:
    from stoker.compat import _backend, _schema

    return {
        **_tensors(),
        **{name: _backend.without_effect(name, r) for name, r in _OF_NO_EFFECT.items()},
        **{f"Get{lib}Version": _backend.not_used(lib) for lib in ("Npp", "Cufft", "Nvimgcodec")},
        "CheckDLPackCapsule": _backend.CheckDLPackCapsule,
        "GetCUDACurrentDevice": _backend.GetCUDACurrentDevice,
        "GetCUDADeviceCount": _backend.GetCUDADeviceCount,
        "GetCudaVersion": _backend.cuda_version_number,
        "GetNvjpegVersion": _backend.GetNvjpegVersion,
        "GetSchema": _schema.GetSchema,
        "IsDriverInitialized": _backend.IsDriverInitialized,
        "LoadLibrary": _backend.load_library,
        "OpSchema": _schema.OpSchema,
        "TryGetSchema": _schema.TryGetSchema,
        "on_demand": {"__cuda_version__": _cuda_version},
        "RegisteredCPUOps": _backend.registered("cpu"),
        "RegisteredGPUOps": _backend.registered("gpu"),
        "RegisteredMixedOps": _backend.registered("mixed"),
        "tfrecord": importlib.import_module("stoker.tfrecord"),
    }


def _plugin_manager() -> dict[str, Any]:
    from stoker.compat import _backend

    return {"load_library": _backend.load_library, "load_directory": _backend.load_directory}


def _sysconfig() -> dict[str, Any]:
    from stoker.compat import _backend

    asked = ("include_dir", "lib_dir", "include_flags", "compile_flags", "link_flags")
    return {f"get_{what}": _backend.no_headers for what in asked}


def _torch_utils() -> dict[str, Any]:
    from stoker import torch as stoker_torch

    def to_torch_tensor(tensor: Any, copy: bool) -> Any:
        """A tensor of PyTorch, on the same memory unless it is to be a copy."""
        import torch

        made = torch.from_dlpack(tensor)
        return made.clone() if copy else made

    shared = ("feed_ndarray", "to_torch_type")
    return {
        "to_torch_tensor": to_torch_tensor,
        **{name: getattr(stoker_torch, name) for name in shared},
    }


def _external_source() -> dict[str, Any]:
    from stoker import fn, ops

    return {"external_source": fn.external_source, "ExternalSource": ops.ExternalSource}


def _pickling() -> dict[str, Any]:
    from stoker._sources.by_value import pickle_by_value

    return {"pickle_by_value": pickle_by_value}


def _unused_arguments() -> dict[str, Any]:
    from stoker.auto_aug.core.arguments import forbid_unused_arguments

    return {"forbid_unused_kwargs": forbid_unused_arguments}


def _jax_integration() -> dict[str, Any]:
    def to_jax_array(tensor: Any, copy: bool) -> Any:
        """An array of JAX, on the same memory where it can be unless it is to be a copy."""
        import jax

        array = jax.dlpack.from_dlpack(tensor)
        return array.copy() if copy else array

    return {"_to_jax_array": to_jax_array}


def _base_iterator() -> dict[str, Any]:
    from stoker.frameworks._epochs import LastBatchPolicy

    return {"LastBatchPolicy": LastBatchPolicy}


def _data_node() -> dict[str, Any]:
    from stoker import DataNode, newaxis

    return {"DataNode": DataNode, "newaxis": newaxis}


def _one(module: str, name: str) -> Callable[[], dict[str, Any]]:
    """A module that has one name of Stoker's."""
    return lambda: {name: getattr(importlib.import_module(module), name)}


def _numba() -> dict[str, Any]:
    from stoker import fn

    return {"numba_function": with_schema_name(fn.numba_function, "numba_function")}


def _conditional() -> dict[str, Any]:
    import stoker
    from stoker import fn
    from stoker._conditionals import branches

    def split(value: Any, predicate: Any) -> list[Any]:
        return list(stoker.split(value, predicate))

    def merge(if_true: Any, if_false: Any, *, predicate: Any) -> Any:
        return fn.merge(if_true, if_false, predicate)

    def not_(value: Any) -> Any:
        return branches.opposite(value)

    def validate_logical(value: Any, *, expression_name: str, expression_side: str) -> Any:
        """The value: what it may be here, every conditional takes."""
        return value

    return {"split": split, "merge": merge, "not_": not_, "validate_logical": validate_logical}


_OWN: dict[str, Callable[[], dict[str, Any]]] = {
    "": _top,
    "_conditionals": dict,  # tests import it
    "auto_aug.core._args": _unused_arguments,
    "backend": _backend,
    "backend_impl": _backend,
    "data_node": _data_node,
    "experimental": _experimental,
    "external_source": _external_source,
    "fn._conditional": _conditional,
    "pickling": _pickling,
    "pipeline": _pipeline,
    "pipeline.experimental": _experimental,
    "plugin": dict,
    "plugin.base_iterator": _base_iterator,
    "plugin.jax.integration": _jax_integration,
    "plugin.jax.fn": _one("stoker.jax", "jax_function"),
    "plugin.numba": _one("stoker.ops", "NumbaFunction"),
    "plugin.numba.experimental": _one("stoker.ops", "NumbaFunction"),
    "plugin.numba.fn": dict,
    "plugin.numba.fn.experimental": _numba,
    "plugin.pytorch.experimental": dict,
    "plugin.pytorch.fn": _one("stoker.fn", "torch_python_function"),
    "plugin.pytorch.torch_utils": _torch_utils,
    "plugin_manager": _plugin_manager,
    "sysconfig": _sysconfig,
    "tensors": _tensors,
}
