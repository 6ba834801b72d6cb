# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators as classes, lists of inputs, and the spellings of old."""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import assert_same, make, samples_of, take, warning_of
from readers import readers_coco
from stoker import DataNode, Pipeline, errors, fn, ops, types
from stoker._describe import old_spellings
from stoker._describe.python_arguments import FIRSTS
from stoker._describe.registry import operators
from stoker.ops._classes import class_name, class_names, old_class_names

__stoker_scopes__ = False  # keys do not depend on how tests are written

Images = Callable[[], DataNode]


def resolve(root: Any, dotted: str) -> Any:
    for part in dotted.split("."):
        root = getattr(root, part)
    return root


def picture() -> DataNode:
    """A picture of 24 x 30 pixels, which are all different."""
    values = np.arange(24 * 30 * 3, dtype=np.float32).reshape(24, 30, 3)
    return types.Constant(values, layout="HWC")


@pytest.mark.parametrize("name", sorted(operators()))
def test_every_operator_is_a_class(name: str) -> None:
    made = resolve(ops, class_name(name))
    assert issubclass(made, ops.OperatorObject)
    assert made.__doc__ == resolve(fn, name).__doc__
    keywords = [
        p.name
        for p in inspect.signature(resolve(fn, name)).parameters.values()
        if p.kind not in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    ]
    firsts = FIRSTS.get(name, ())
    rest = [k for k in keywords if k not in firsts]
    assert list(inspect.signature(made).parameters) == [*firsts, *rest]


def test_functions_are_given_to_classes_by_position() -> None:
    with Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        plus, both = ops.PythonFunction(lambda a: a + 1), ops.PythonFunction(lambda a: (a, -a), 2)
        batch = ops.DLTensorPythonFunction(lambda a: a, 1, "cpu", False, True)
        three = fn.constant(idata=[3], shape=[1])
        pipe.set_outputs(plus(three), *both(three), batch(three))
    assert [int(o.as_array()[0, 0]) for o in pipe.run()] == [4, 3, -3, 3]
    for wrong in (lambda: ops.PythonFunction(abs, 1, "cpu", True, 5), lambda: ops.Resize(3)):
        with pytest.raises(errors.GraphTypeError, match="arguments by position"):
            wrong()
    with pytest.raises(errors.GraphTypeError, match="'function' is given twice"):
        ops.PythonFunction(abs, function=abs)


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        ("crop_mirror_normalize", "CropMirrorNormalize"),
        ("readers.coco", "readers.COCO"),
        ("random_bbox_crop", "RandomBBoxCrop"),
        ("experimental.readers.video", "experimental.readers.Video"),
        ("bb_flip", "BbFlip"),
        ("readers.tfrecord", "readers.TFRecord"),
    ],
)
def test_names_of_classes(operator: str, name: str) -> None:
    assert class_name(operator) == name


def test_experimental_names_also_work_without_the_prefix() -> None:
    for name in ("dilate", "erode", "equalize", "filter", "median_blur", "remap"):
        assert resolve(fn, name).__doc__ == resolve(fn.experimental, name).__doc__
    with pytest.raises(AttributeError, match=r"there is no operator 'fn\.tensor_resize', as"):
        fn.experimental.tensor_resize  # noqa: B018


def test_classes_are_listed() -> None:
    assert {"Resize", "random", "readers"} <= set(dir(ops))
    assert dir(ops.random) == ["Beta", "Choice", "CoinFlip", "Normal", "Uniform"]
    with pytest.raises(AttributeError, match="Did you mean 'Resize'"):
        ops.Resise  # noqa: B018
    with pytest.raises(AttributeError, match=r"Did you mean 'readers\.File'"):
        ops.File  # noqa: B018
    with pytest.raises(
        AttributeError, match=r"no operator 'ops\.readers\.Video', as 'ops\.VideoReader'"
    ):
        ops.VideoReader  # noqa: B018


def test_both_styles_make_the_same_graph() -> None:
    def functions() -> Any:
        image = fn.resize(picture(), resize_x=20, resize_y=10, name="small")
        return fn.flip(image, horizontal=fn.random.coin_flip(seed=3)), fn.random.uniform()

    def classes() -> Any:
        resize = ops.Resize(device="cpu", resize_x=20)
        flip, coin, draw = ops.Flip(), ops.random.CoinFlip(seed=3), ops.random.Uniform()
        return flip(resize(picture(), resize_y=10, name="small"), horizontal=coin()), draw()

    graphs = [make(define).serialize() for define in (functions, classes)]
    lines = [[x for x in g.splitlines() if '"where"' not in x] for g in graphs]
    assert lines[0] == lines[1]


def test_arguments_split_freely_but_are_given_once() -> None:
    with Pipeline(batch_size=1):
        ops.RandomResizedCrop()(picture(), size=4)
        ops.RandomResizedCrop(size=4, name="a")(picture(), name="b", seed=None)
        with pytest.raises(errors.GraphError, match=r"test_classes.py:\d+.*'size'.*required"):
            ops.RandomResizedCrop()(picture())
        with pytest.raises(errors.GraphError, match=r"test_classes.py:\d+.*'size' was given alr"):
            ops.RandomResizedCrop(size=4)(picture(), size=5)
    with pytest.raises(errors.GraphError, match=r"no argument 'sise'\. Did you mean 'size'"):
        ops.RandomResizedCrop(sise=4)


def test_arguments_by_position() -> None:
    assert repr(ops.ExternalSource([1], 2)) == "ExternalSource(source=[1], num_outputs=2)"
    with pytest.raises(errors.GraphError, match=r"test_classes.py:\d+.*'source' is given twice"):
        ops.ExternalSource([1], source=[2])
    with pytest.raises(errors.GraphError, match=r"takes 0 arguments by position .*, got 2"):
        ops.Resize(224, 224)
    with pytest.raises(errors.GraphError, match=r"2 arguments by position \(source, num_outputs\)"):
        ops.ExternalSource([1], 2, 3)


def test_what_an_object_says_of_itself() -> None:
    assert repr(ops.Flip(vertical=1)) == "Flip(vertical=1)"
    assert ops.Flip().device == "cpu"
    assert ops.Flip(device="gpu").device == "gpu"


@pytest.mark.parametrize("style", [fn.random_resized_crop, None], ids=["fn", "ops"])
def test_a_list_draws_once_for_all(style: Any) -> None:
    def define() -> Any:
        x = picture()
        operator = style or ops.RandomResizedCrop()
        mirror = fn.random.coin_flip()
        together = operator([x, x, fn.copy(x)], size=8)
        assert isinstance(together, list)
        return [*fn.flip(together, horizontal=mirror), fn.flip(operator(x, size=8))]

    samples = take(make(define), 6)
    for i, sample in enumerate(samples):
        assert_same([sample[1:2], sample[2:3]], [sample[:1]] * 2, f"sample {i}")
    assert any(not np.array_equal(s[0], s[3]) for s in samples)


def test_a_list_gives_lists_whatever_is_in_it() -> None:
    with Pipeline(batch_size=1):
        x = picture()
        one = fn.copy([x], name="first")
        assert isinstance(one, list)
        assert [n.name for n in one] == ["first"]
        names = [n.name for n in fn.copy([x, x, 3], name="second")]
        assert names[0] == "second" and len(set(names)) == 3
        cut = fn.slice([x, x], [0.25, 0.25], [0.5, 0.5])  # numbers apply to every input
        assert len(cut) == 2


def test_calls_of_an_object_are_independent_unless_seeded() -> None:
    def define(**seed: int) -> Callable[[], Any]:
        def both() -> Any:
            draw = ops.random.Uniform(**seed)
            return draw(), draw()

        return both

    assert any(a != b for a, b in take(make(define()), 4))
    assert all(a == b for a, b in take(make(define(seed=5)), 4))


def today(old: Callable[[DataNode], Any], new: Callable[[DataNode], Any], warned: int) -> None:
    """Both calls give the same samples, and the old one warns this many times."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = take(make(lambda: old(picture())), 8)
    assert [w.category for w in caught] == [DeprecationWarning] * warned
    assert {Path(w.filename).name for w in caught} == {"test_classes.py"}
    assert_same(got, take(make(lambda: new(picture())), 8), "old and new spelling")


def drawn() -> DataNode:
    return fn.random.uniform(range=[0, 1])


def crop_cases() -> list[Any]:
    old = {"crop": (8, 9)}
    return [
        (fn.crop, {"image_type": types.RGB}, {}),
        (fn.crop, {"random_crop": False}, {}),
        (fn.crop, {"output_dtype": types.FLOAT16}, {"dtype": types.FLOAT16}),
        (fn.crop, {"random_crop": True}, {"crop_pos_x": drawn, "crop_pos_y": drawn}),
        (fn.crop_mirror_normalize, {"image_type": types.RGB, **old}, old),
        (fn.crop_mirror_normalize, {"output_dtype": types.FLOAT16}, {"dtype": types.FLOAT16}),
        (
            fn.crop_mirror_normalize,
            {"random_crop": True, **old},
            {"crop_pos_x": drawn, "crop_pos_y": drawn, **old},
        ),
        (
            fn.crop_mirror_normalize,
            {"mirror_prob": 0.5},
            {"mirror": lambda: fn.random.coin_flip(probability=0.5)},
        ),
    ]


def resize_cases() -> list[Any]:
    def between() -> DataNode:
        return fn.random.uniform(range=[9, 20])

    ends = {"resize_a": 9, "resize_b": 20}
    return [
        (fn.resize, {"image_type": types.RGB}, {}),
        (fn.resize, {"resize_a": 9}, {"resize_shorter": 9}),
        (fn.resize, ends, {"resize_shorter": 9}),
        (fn.resize, {**ends, "random_resize": True}, {"resize_shorter": between}),
        (fn.resize, {**ends, "warp_resize": True}, {"resize_y": 9, "resize_x": 20}),
        (
            fn.resize,
            {**ends, "warp_resize": True, "random_resize": True},
            {"resize_y": between, "resize_x": between},
        ),
        (fn.slice, {"image_type": types.RGB}, {}),
        (fn.slice, {"output_dtype": types.FLOAT16}, {"dtype": types.FLOAT16}),
    ]


def shape_cases() -> list[Any]:
    return [(fn.shapes, {"type": types.INT32}, {"dtype": types.INT32})]


def lookup_table(x: DataNode, **arguments: Any) -> Any:
    return fn.lookup_table(fn.cast(x, dtype=types.UINT8), keys=[1, 2], values=[3, 4], **arguments)


def dtype_cases() -> list[Any]:
    old, new = {"output_dtype": types.INT16}, {"dtype": types.INT16}
    return [(operator, old, new) for operator in (lookup_table, fn.rotate, fn.warp_affine)]


@pytest.mark.parametrize(
    ("operator", "old", "new"), crop_cases() + resize_cases() + shape_cases() + dtype_cases()
)
def test_old_arguments_mean_todays(operator: Any, old: Any, new: Any) -> None:
    needed: dict[Any, Any] = {
        fn.crop: {"crop": (8, 9)},
        fn.slice: {"start": [1, 2], "shape": [3, 4]},
        fn.rotate: {"angle": 30.0},
        fn.warp_affine: {"matrix": [1, 0.5, -2, 0, 1, 3]},
    }
    extra = needed.get(operator, {})

    def modern(x: DataNode) -> Any:
        values = {k: v() if callable(v) and k != "dtype" else v for k, v in new.items()}
        return operator(x, **values, **extra)

    today(lambda x: operator(x, **old, **extra), modern, 1)


COCO = {
    "dump_meta_files": "save_preprocessed_annotations",
    "dump_meta_files_path": "save_preprocessed_annotations_dir",
    "masks": "polygon_masks",
    "meta_files_path": "preprocessed_annotations",
    "save_img_ids": "image_ids",
}


def test_old_arguments_of_a_reader(tmp_path: Path) -> None:
    store = readers_coco.VARIANTS["boxes"](tmp_path, 3)
    given = {k: v for k, v in store.arguments.items() if k != "image_ids"}
    saved = str(tmp_path / "saved")
    loaded = {k: v for k, v in given.items() if k != "annotations_file"}
    written = {"dump_meta_files": True, "dump_meta_files_path": saved, "save_img_ids": True}
    for old in ({**given, **written}, {**loaded, "meta_files_path": saved, "save_img_ids": True}):
        today = {COCO.get(name, name): value for name, value in old.items()}
        with pytest.warns(DeprecationWarning) as caught:
            got = samples_of(make(lambda a=old: fn.readers.coco(**a), batch_size=3).run())
        assert len(caught) == len(old.keys() & COCO.keys())
        assert_same(
            got, samples_of(make(lambda a=today: fn.readers.coco(**a), batch_size=3).run()), "old"
        )


def test_every_old_argument_is_tried_above() -> None:
    cases = crop_cases() + resize_cases() + shape_cases() + dtype_cases()
    tried = {(op.__name__, name) for op, old, _ in cases for name in old}
    tried |= {("coco", name) for name in COCO}
    table = {
        (op.split(".")[-1], name) for op, names in old_spellings.ARGUMENTS.items() for name in names
    }
    assert table <= tried


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"random_resize": True}, "random_resize also needs resize_a, resize_b"),
        ({"resize_b": 3}, "resize_b also needs resize_a"),
        ({"resize_a": 3, "resize_shorter": 4}, "resize_shorter is given in its old and in today's"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_arguments_that_say_too_little_or_too_much(
    arguments: dict[str, Any], message: str
) -> None:
    with Pipeline(batch_size=1), pytest.raises(errors.GraphError, match=message):
        fn.resize(picture(), **arguments)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "old", [n for n, (op, _) in old_class_names().items() if op in operators()]
)
def test_old_classes(old: str) -> None:
    operator, device = old_class_names()[old]
    spelled = class_name(operator)
    made = resolve(ops, old)
    assert made._operator["name"] == operator
    assert made().device == (device or "cpu")
    assert made(device="cpu").device == "cpu"
    for _ in range(2):  # each call warns
        with warning_of(f"ops.{old}", f"ops.{spelled}"), suppress(errors.GraphError):
            made()()


def test_old_functions_warn_in_each_call() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        draw = fn.uniform
        assert hasattr(fn, "coin_flip") and draw.__name__ == "uniform"
        assert caught == []
        with Pipeline(batch_size=1):
            draw(range=[0.0, 1.0]), draw(range=[0.0, 1.0])
    assert [w.filename for w in caught] == [__file__] * 2
    assert str(caught[0].message) == "fn.uniform is now spelled fn.random.uniform"


def composed(steps: Any, *inputs: Images, **arguments: Any) -> Any:
    """What the steps make of the inputs, for the first sample, and whether it came in a list."""
    is_list: list[bool] = []

    def define() -> Any:
        result = ops.Compose(steps)(*[made() for made in inputs], **arguments)
        is_list.append(isinstance(result, list))
        return tuple(result) if isinstance(result, list) else result

    return [np.array(batch.as_cpu()[0]) for batch in make(define, device_id=0).run()], is_list[0]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")


def filled(value: float) -> Images:
    return lambda: fn.full(types.Constant(value), shape=[2, 3])


def doubled(x: DataNode) -> DataNode:
    return x * 2


def halves() -> Any:
    return ops.PythonFunction(function=lambda a: (a[:1], a[1:] + 5), num_outputs=2)


@pytest.mark.usefixtures("simulated")
def test_steps_follow_each_other() -> None:
    steps = [ops.Resize(resize_x=12, resize_y=10), doubled, ops.Flip(horizontal=1)]
    (got,), is_list = composed(steps, picture)
    wanted = fn.flip(fn.resize(picture(), resize_x=12, resize_y=10) * 2, horizontal=1)
    np.testing.assert_array_equal(got, make(lambda: wanted).run()[0].as_array()[0])
    assert not is_list
    nested = [ops.Compose(steps[:1]), ops.Compose([ops.Compose(steps[1:2]), steps[2]])]
    np.testing.assert_array_equal(composed(nested, picture)[0][0], got)
    np.testing.assert_array_equal(composed(iter(steps), picture)[0][0], got)


@pytest.mark.usefixtures("simulated")
def test_composed_steps_with_several_inputs_and_outputs() -> None:
    (joined,), is_list = composed([ops.Cat(axis=1), doubled], filled(1), filled(2))
    assert joined.tolist() == [[2.0] * 3 + [4.0] * 3] * 2 and not is_list
    outputs, is_list = composed([doubled, halves()], filled(1))
    assert [o.tolist() for o in outputs] == [[[2.0] * 3], [[7.0] * 3]] and is_list
    (joined,), is_list = composed([halves(), ops.Cat()], filled(1))
    assert joined.tolist() == [[1.0] * 3, [6.0] * 3] and not is_list
    (matrix,), _ = composed(
        [ops.transforms.Scale(scale=[2, 2]), ops.transforms.Rotation(angle=180.0)]
    )
    np.testing.assert_allclose(matrix, [[-2, 0, 0], [0, -2, 0]], atol=1e-6)


@pytest.mark.usefixtures("simulated")
def test_arguments_of_a_composed_call_go_to_the_first_step() -> None:
    (got,), _ = composed([ops.Cast(), ops.Copy()], filled(1.5), dtype=types.INT32, name="first")
    assert got.dtype == np.int32
    compose = ops.Compose([ops.Flip(), ops.Copy()])
    with Pipeline(batch_size=1), pytest.raises(errors.GraphError, match="no argument named 'siz"):
        compose(picture(), sizes=3)
    assert repr(compose) == "Compose([Flip(), Copy()])"


@pytest.mark.usefixtures("simulated")
def test_composed_steps_on_a_device() -> None:
    with Pipeline(batch_size=1, device_id=0):
        on_gpu = ops.Copy(device="gpu")
        for steps in ([on_gpu], [ops.Copy(), on_gpu, doubled], [ops.Compose([on_gpu])]):
            assert ops.Compose(steps)(picture()).device == "gpu"
        assert ops.Compose([on_gpu])(picture().gpu()).device == "gpu"
        first, second = ops.Compose([halves(), lambda a, b: (on_gpu(a.gpu()), b)])(filled(1)())
        assert (first.device, second.device) == ("gpu", "cpu")
        # What is read on the host stays there.
        anchor = types.Constant([0.0, 0.0])
        cut = ops.Slice(device="gpu", axes=[0, 1])
        made = ops.Compose([cut])(picture(), anchor, types.Constant([0.5, 0.5]))
        assert made.device == "gpu"
    (got,), _ = composed([ops.Copy(), ops.Flip(device="gpu", horizontal=1), doubled], picture)
    (wanted,), _ = composed([ops.Flip(horizontal=1), doubled], picture)
    np.testing.assert_array_equal(got, wanted)


def test_what_cannot_be_composed() -> None:
    with pytest.raises(errors.GraphError, match="expects at least one operator, got an empty"):
        ops.Compose([])
    with pytest.raises(errors.GraphError, match="expects objects of operators, got 3"):
        ops.Compose([ops.Copy(), 3])
    with Pipeline(batch_size=1), pytest.raises(errors.GraphError, match=r"copy .*takes 1 input"):
        ops.Compose([halves(), ops.Copy()])(filled(1)())


def test_stubs_show_what_the_classes_take(repository: Path) -> None:
    folder = Path(ops.__file__ or "").parent
    seen = set()
    for path in folder.rglob("*.pyi"):
        parts = path.relative_to(folder).with_suffix("").parts
        prefix = "".join(f"{p}." for p in parts if p != "__init__")
        for item in ast.parse(path.read_text()).body:
            if isinstance(item, ast.ClassDef):
                methods = [m for m in item.body if isinstance(m, ast.FunctionDef)]
                keywords = list(inspect.signature(resolve(ops, prefix + item.name)).parameters)
                op = operators()[class_names()[prefix + item.name]]
                assert len(methods) == (3 if op["inputs"] or op["kind"] == "input" else 2)
                for m in methods:
                    named = [a.arg for a in [*m.args.args, *m.args.kwonlyargs] if a.arg != "self"]
                    is_made = m.name == "__init__"
                    assert named == keywords if is_made else set(named) == set(keywords)
                    assert None not in m.args.kw_defaults
                seen.add(prefix + item.name)
    assert seen == set(class_names())
