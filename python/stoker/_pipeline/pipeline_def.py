# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The decorator that turns a function into a factory of pipelines."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast, overload

from stoker._conditionals.mark import FACTORY, MARK, NOT_BOTH
from stoker._messages import line_in_words, user_level
from stoker._pipeline.pipeline import Pipeline
from stoker._settings.table import nearest_setting
from stoker._settings.table import settings as pipeline_settings
from stoker.errors import GraphError, GraphTypeError

if TYPE_CHECKING:
    import inspect

    from typing_extensions import Unpack

    from stoker._settings.configured import Settings

PipelineFunction = Callable[..., Any]
Factory = Callable[..., Pipeline]


@overload
def pipeline_def(definition: PipelineFunction, /) -> Factory: ...


@overload
def pipeline_def(
    definition: None = None, /, **settings: Unpack[Settings]
) -> Callable[[PipelineFunction], Factory]: ...


def pipeline_def(
    definition: PipelineFunction | None = None, /, **settings: Any
) -> Factory | Callable[[PipelineFunction], Factory]:
    """Turns a function that connects operators into a factory of pipelines.

    The function calls ``fn.*`` and returns the outputs. The factory takes the function's own
    arguments and, as keywords, those of ``Pipeline``, which replace the decorator's:

        @pipeline_def(batch_size=32)
        def training(root):
            encoded, label = fn.readers.file(file_root=root, random_shuffle=True)
            return fn.decoders.image(encoded), label

        pipe = training("pictures", batch_size=64)

    If the function has an argument with the name of a setting, the function gets the value.

    With ``enable_conditionals=True``, an ``if`` on an output of an operator, which is one number
    for each sample, decides for each sample which side makes it; so do ``a if c else b``, ``and``,
    ``or`` and ``not``. Sides of a name that meet in a batch must agree in dtype, number of axes and
    layout. This goes for functions that the function calls as well, except those with
    ``do_not_convert``.
    """
    return decorated(definition, settings, Pipeline)


def decorated(
    definition: PipelineFunction | None, settings: Mapping[str, Any], make: type[Pipeline]
) -> Factory | Callable[[PipelineFunction], Factory]:
    """What the decorator returns; ``make`` is the class of the pipelines."""
    _check_settings(settings, "pipeline_def", ())
    if definition is None:
        return lambda function: _factory(function, settings, make)
    return _factory(definition, settings, make)


def _factory(
    definition: PipelineFunction, settings: Mapping[str, Any], make: type[Pipeline]
) -> Factory:
    import inspect  # not at the top: it would take a third of the package's import time

    takes = inspect.signature(definition).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in takes.values())
    known = pipeline_settings().keys()
    name = getattr(definition, "__name__", type(definition).__name__)  # a partial has none
    if getattr(definition, MARK, False):
        raise GraphError(f"pipeline_def: {name} {NOT_BOTH}")

    @functools.wraps(definition)
    def make_pipeline(*args: Any, **keywords: Any) -> Pipeline:
        own = {k: v for k, v in keywords.items() if k in takes or (takes_any and k not in known)}
        rest = {k: v for k, v in keywords.items() if k not in own}
        _check_settings(rest, name, takes)
        # No warning for shards: a function that takes them hands them to its reader itself.
        for setting in own.keys() & known - {"shard_id", "num_shards"}:
            message = f"{setting}= goes to the function {name}, not to the pipeline"
            warnings.warn(message, stacklevel=user_level())
        _check_count(args, takes.values(), name)
        merged = {**settings, **rest}
        if "max_batch_size" in rest:
            merged.pop("batch_size", None)
        pipe = make(**merged)
        with pipe:
            outputs = _function(definition, merged)(*args, **own)
        pipe._set_outputs_of(f"the function {name}{_place(definition)}", outputs)
        return pipe

    def uncalled(*_: object, **__: object) -> NoReturn:
        raise GraphTypeError(f"{name} is a function that makes pipelines; call it: {name}()")

    for attribute, value in ((FACTORY, True), ("build", uncalled), ("run", uncalled)):
        setattr(make_pipeline, attribute, value)
    return make_pipeline


def _check_count(
    given: Sequence[object], takes: Iterable[inspect.Parameter], function: str
) -> None:
    """Says what is meant where the pipeline's settings are given by position."""
    kinds = [p.kind for p in takes]
    most = sum(kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD) for kind in kinds)
    if len(given) > most and not any(kind is kind.VAR_POSITIONAL for kind in kinds):
        raise TypeError(
            f"{function}() takes {most} by position, got {len(given)}; the settings of a pipeline "
            f"are given by name, as in {function}(..., batch_size=16)"
        )


def _place(definition: PipelineFunction) -> str:
    code = getattr(definition, "__code__", None)
    return f" ({line_in_words(code.co_filename, code.co_firstlineno)})" if code else ""


def is_factory(value: object) -> bool:
    """Whether it is what ``pipeline_def`` makes of a function."""
    code = getattr(value, "__code__", None)
    return code is not None and (code.co_filename, code.co_name) == (__file__, "make_pipeline")


def _function(definition: PipelineFunction, settings: Mapping[str, Any]) -> PipelineFunction:
    if not settings.get("enable_conditionals"):
        return definition
    from stoker._conditionals.rewrite import converted  # reads sources, which few need

    return cast(PipelineFunction, converted(definition))


def _check_settings(settings: Mapping[str, Any], of: str, arguments: Iterable[str]) -> None:
    known = pipeline_settings()
    for name in settings:
        if name not in known:
            hint = nearest_setting(name, [*known, *arguments], "It takes")
            raise TypeError(f"{of}() takes no argument '{name}'.{hint}")
