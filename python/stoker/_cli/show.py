# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a contact sheet: the pictures as they are stored, and what a pipeline makes of them.

Of pictures or folders, "after" is the usual training input: a random window, resized, sometimes
flipped. Of a Python script, it is what the script's own pipeline gives: a Pipeline of the module,
or a function with @pipeline_def, which gets the words behind the script as arguments, turned into
the int, float, bool or Path that it says. Behind "--", they may begin with a dash. The script is
imported, so what stands under `if __name__ == "__main__":` does not run. A path that ends in .html
gets captions; .png and .jpg get the pictures alone.
"""

from __future__ import annotations

import argparse
import html
import inspect
import json
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stoker import Batch, DataNode, Pipeline, Tensor, _show, fn, images, pipeline_def, types
from stoker._cli.arguments import count
from stoker._cli.files import ending, pictures_of, printable
from stoker._command import tell
from stoker._messages import at_line
from stoker._pipeline.pipeline_def import is_factory
from stoker.errors import Error, GraphError, SampleError

HELP = "writes a contact sheet of pictures, before and after a pipeline"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("place", metavar="PLACE", help="a folder, a picture, a list, or SCRIPT.py")
    parser.add_argument(
        "words", metavar="ARGUMENT", nargs="*", help="of the script's function, or more pictures"
    )
    parser.add_argument(
        "--out",
        type=_sheet,
        default="contact_sheet.html",
        metavar="FILE",
        help="the sheet, .html, .png or .jpg (contact_sheet.html)",
    )
    parser.add_argument("--count", type=count, default=16, metavar="N", help="pictures (16)")
    parser.add_argument(
        "--size", type=count, help="side of what is made (224); a script says it itself"
    )
    parser.add_argument("--seed", type=int, help="of the random draws (1, or the script's own)")
    parser.add_argument("--pipeline", metavar="NAME", help="which one of the script")
    parser.add_argument("--json", action="store_true", help="print what was shown as JSON")


def _sheet(path: str) -> str:
    folder = os.path.dirname(path) or "."
    if ending(path) not in (*_PAGES, ".png", ".jpg", ".jpeg"):
        raise argparse.ArgumentTypeError(f"expected a name in .html, .png or .jpg, got {path!r}")
    if not os.path.isdir(folder):
        raise argparse.ArgumentTypeError(f"there is no folder {folder!r}")
    return path


def execute(given: argparse.Namespace) -> int:
    if given.place.endswith(".py"):
        _prepare(given)
        try:
            with at_line(None):  # messages name the script's own lines
                pipe = _pipeline_of(given)
        except Error:
            raise
        except Exception as e:
            return tell(e, given.place)
        pairs = _of_script(pipe, given.count)
    else:
        pairs = _of_files(pictures_of([given.place, *given.words]), given)
    if not pairs:
        raise GraphError(f"{given.place}: nothing that it gives is a picture")
    _write(pairs, given)
    if given.json:
        shown = [{"file": source, "captions": words} for source, _, words in pairs]
        print(json.dumps({"sheet": given.out, "shown": shown}, indent=1))
    else:
        print(f"{len(pairs)} pictures, before and after: {given.out}")
    return 0


_PAGES = (".html", ".htm")

# The source, the pictures side by side, and a line for each of them.
Pair = tuple[str, list[Tensor], list[str]]


@pipeline_def(on_error="skip", prefetch_queue_depth=1)
def _before_and_after(files: list[str], size: int) -> tuple[DataNode, ...]:
    encoded, _ = fn.readers.file(files=files, pad_last_batch=True)
    shape = fn.peek_image_shape(encoded)
    before = fn.resize(
        fn.decoders.image(encoded, output_type=types.RGB), size=[192, 192], mode="not_larger"
    )
    after = fn.random_resized_crop(
        fn.decoders.image(encoded, output_type=types.RGB), size=[size, size]
    )
    return before, fn.flip(after, horizontal=fn.random.coin_flip()), shape


def _of_files(files: Sequence[str], given: argparse.Namespace) -> list[Pair]:
    most = min(given.count, len(files))
    chosen = [files[i * len(files) // most] for i in range(most)]
    size = given.size or 224
    seed = 1 if given.seed is None else given.seed
    pipe = _before_and_after(chosen, size, batch_size=len(chosen), seed=seed)
    before, after, shapes = pipe.run()
    pairs = []
    for i in range(len(before)):
        height, width, channels = shapes.at(i)
        words = [f"{width} x {height}, {channels} channels", f"{size} x {size}"]
        pairs.append((before[i].source_info, [before[i], after[i]], words))
    return pairs


def _of_script(pipe: Pipeline, most: int) -> list[Pair]:
    pairs: list[Pair] = []
    while len(pairs) < most:
        try:
            outputs = pipe.run()
        except StopIteration:  # its sources have no more
            break
        found = _pictures_of_step([_show.own_batch(batch).as_cpu() for batch in outputs])
        if not found:
            break
        pairs += found
    return _with_originals(pairs[:most])


def _pictures_of_step(outputs: Sequence[Batch]) -> list[Pair]:
    pairs: list[Pair] = []
    for i in range(len(outputs[0])):
        samples = [batch[i] for batch in outputs if i < len(batch) and _show.is_picture(batch[i])]
        if samples:
            words = [f"{s.dtype} {s.layout} {s.shape}" for s in samples]
            pairs.append((samples[0].source_info, samples, words))
    return pairs


def _with_originals(pairs: list[Pair]) -> list[Pair]:
    """The same with the stored picture before the others, where the source is a picture file."""
    files = list(dict.fromkeys(source for source, _, _ in pairs if os.path.isfile(source)))
    if not files:
        return pairs
    try:
        before, _, shapes = _before_and_after(files, 16, batch_size=len(files)).run()
    except SampleError:  # none of them is a picture
        return pairs
    stored = {before[i].source_info: (before[i], shapes.at(i)) for i in range(len(before))}
    joined = []
    for source, samples, words in pairs:
        if source in stored:
            original, (height, width, _) = stored[source]
            samples, words = [original, *samples], [f"stored: {width} x {height}", *words]
        joined.append((source, samples, words))
    return joined


def _prepare(given: argparse.Namespace) -> None:
    """Makes the script find what it would find if Python ran it. Raises ``OSError``."""
    if given.size is not None:
        raise GraphError(f"{given.place}: --size is for pictures; a script says it itself")
    with open(given.place, encoding="utf-8", errors="replace") as file:
        if "nvidia.dali" in file.read():
            from stoker import compat

            compat.install()
    sys.argv = [given.place, *given.words]
    sys.path.insert(0, os.path.dirname(os.path.abspath(given.place)))


def _pipeline_of(given: argparse.Namespace) -> Pipeline:
    """The script's pipeline. Raises ``GraphError`` where there is none, or there are several, or
    what was given does not fit it; and what the script raises.
    """
    module = runpy.run_path(given.place, run_name="stoker_show")
    found = {name: value for name, value in module.items() if _is_candidate(value)}
    made = {name: value for name, value in found.items() if isinstance(value, Pipeline)}
    candidates = made or found
    if given.pipeline:
        candidates = {name: v for name, v in found.items() if name == given.pipeline}
    if len(candidates) != 1:
        names = ", ".join(found) or "none"
        if given.pipeline:
            raise GraphError(f"{given.place} has no pipeline '{given.pipeline}'; it has {names}")
        raise GraphError(
            f"{given.place}: one pipeline or function with @pipeline_def is needed, found {names}; "
            "--pipeline NAME chooses one"
        )
    ((name, candidate),) = candidates.items()
    if isinstance(candidate, Pipeline):
        if given.words or given.seed is not None:
            raise GraphError(
                f"{given.place}: {name} is a pipeline already; arguments and --seed are for a "
                "function with @pipeline_def"
            )
        return candidate
    settings = {} if given.seed is None else {"seed": given.seed}
    values = _values_for(candidate, name, given)
    pipe: Pipeline = candidate(*values, **settings)
    if pipe.max_batch_size is None:
        pipe = candidate(*values, **settings, batch_size=given.count)
    return pipe


def _values_for(function: Callable[..., Any], name: str, given: argparse.Namespace) -> list[Any]:
    """The words of the command line as the arguments that the function takes."""
    signature = inspect.signature(function)
    values: list[Any] = []
    try:
        for of, words in signature.bind(*given.words).arguments.items():
            kind = _kind(signature.parameters[of])
            values += map(kind, words) if isinstance(words, tuple) else [kind(words)]
    except (TypeError, ValueError) as e:
        usual = " ".join(map(str.upper, signature.parameters))
        raise GraphError(
            f"{given.place}: {name}{signature} got {given.words}: {e}; its arguments stand behind "
            f"the script: stoker show {given.place} {usual}"
        ) from None
    return values


def _kind(parameter: inspect.Parameter) -> Callable[[str], Any]:
    """What makes a word the type of the parameter's annotation, or else of its default."""
    said = parameter.annotation
    if said is parameter.empty:
        said = type(parameter.default)
    name = said if isinstance(said, str) else getattr(said, "__name__", str(said))
    return _KINDS.get(name.removesuffix(" | None").rpartition(".")[2], str)


def _flag(word: str) -> bool:
    if word.lower() not in ("true", "false", "1", "0"):
        raise ValueError(f"expected true or false, got {word!r}")
    return word.lower() in ("true", "1")


_KINDS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": _flag,
    "Path": Path,
    "PosixPath": Path,
}


def _is_candidate(value: Any) -> bool:
    return isinstance(value, Pipeline) or is_factory(value)


def _write(pairs: Sequence[Pair], given: argparse.Namespace) -> None:
    if ending(given.out) not in _PAGES:
        tiles = [_show.small(sample) for _, samples, _ in pairs for sample in samples]
        images.contact_sheet(tiles, given.out, columns=4 * max(len(s) for _, s, _ in pairs))
        return
    figures = []
    for source, samples, words in pairs:
        caption = "<br>".join(html.escape(word) for word in [printable(source), *words] if word)
        figures.append(_show.figure(samples, caption))
    _show.Shown(f"{given.place}: before and after", figures).save(given.out)
