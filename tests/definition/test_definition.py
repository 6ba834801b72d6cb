# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Defining graphs: functions, arguments, and errors for wrong ones."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from helpers import load_tool, make
from stoker import DataNode, Pipeline, _core, errors, fn, types
from stoker._describe.registry import operators


def resolve(name: str) -> Any:
    found: Any = fn
    for part in name.split("."):
        found = getattr(found, part)
    return found


def arguments_of(pipe: Pipeline, op: str) -> dict[str, Any]:
    """The constant arguments of the only instance of an operator, as the graph holds them."""
    nodes = json.loads(pipe._definition.graph.save("{}"))["nodes"]
    (arguments,) = [node["arguments"] for node in nodes if node["op"] == op]
    return dict(arguments)


def here() -> int:
    """The line of the caller, as messages name it."""
    return inspect.stack()[1].lineno


def test_the_version_is_that_of_the_project() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    version, _, _ = stoker.__version__.partition("+")  # 0.1.0+cu13 with CUDA
    assert f'\nversion = "{version}"\n' in text


def test_importing_is_light() -> None:
    code = "import sys, stoker; print('numpy' in sys.modules, 'importlib.metadata' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("name", sorted(operators()))
def test_every_operator_has_a_real_signature(name: str) -> None:
    function, op = resolve(name), operators()[name]
    shown = inspect.signature(function).parameters
    assert function.__name__ == name.rpartition(".")[2]
    words = " ".join(function.__doc__.split())
    assert " ".join(op["summary"].split()) in words
    single, repeating = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL
    kinds = [p.kind for p in shown.values() if p.kind in (single, repeating)]
    assert kinds == [repeating if port["repeats"] else single for port in op["inputs"]]
    for a in op["arguments"]:
        expected = inspect.Parameter.empty if a["required"] else a["default"]
        assert shown[a["name"]].default == expected
        assert f"\n    {a['name']} (" in function.__doc__
        assert " ".join(a["help"].split()) in words
    for name in op["ignored"]:
        assert name in shown


def test_submodules_are_modules() -> None:
    import stoker.fn.random as random_operators
    from stoker.fn.decoders import image

    assert inspect.ismodule(random_operators)
    assert random_operators is fn.random
    assert image is fn.decoders.image
    assert "file" in dir(fn.readers)
    assert {"readers", "decoders", "random", "resize"} <= set(dir(fn))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("resiz", "resize"), ("image", "decoders.image"), ("readers.fil", "readers.file")],
)
def test_an_unknown_operator_names_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(AttributeError, match=f"'fn.{wrong}'. Did you mean '{right}'"):
        resolve(wrong)


def test_old_names_still_work_and_say_so() -> None:
    assert fn.file_reader.__doc__ == fn.readers.file.__doc__
    with pytest.warns(DeprecationWarning, match=r"fn\.file_reader is now .* fn\.readers\.file"):
        fn.file_reader(files=["a"])


def test_constants_of_many_kinds() -> None:
    pipe = Pipeline(batch_size=1)
    with pipe:
        encoded, _ = fn.readers.file(files=[Path("a.jpg"), "b.jpg"], file_root=Path("x"))
        image = fn.decoders.image(encoded, output_type=types.GRAY)
        image = fn.resize(image, size=np.array([3, 4]), interp_type="INTERP_CUBIC")
        fn.crop_mirror_normalize(
            image, mean=(1, np.float32(2.5)), std=2, dtype=np.float16, mirror=np.bool_(True)
        )
    assert arguments_of(pipe, "readers.file")["files"] == ["a.jpg", "b.jpg"]
    assert arguments_of(pipe, "readers.file")["file_root"] == "x"
    assert arguments_of(pipe, "decoders.image")["output_type"] == "GRAY"
    assert arguments_of(pipe, "resize")["size"] == [3, 4]
    assert arguments_of(pipe, "resize")["interp_type"] == "INTERP_CUBIC"
    normalise = arguments_of(pipe, "crop_mirror_normalize")
    assert normalise["mean"] == [1, 2.5]
    assert normalise["dtype"] == "float16"
    assert normalise["mirror"] == 1


@pytest.mark.parametrize(
    "dtype", [types.FLOAT, "float32", np.float32, np.dtype("float32"), types.DALIDataType.FLOAT]
)
def test_one_dtype_in_many_spellings(dtype: Any) -> None:
    pipe = Pipeline(batch_size=1)
    with pipe:
        fn.random.uniform(dtype=dtype)
    assert arguments_of(pipe, "random.uniform")["dtype"] == "float32"


def test_types_are_their_texts() -> None:
    assert types.FLOAT == "float32"
    assert f"{types.UINT8} {types.RGB}" == "uint8 RGB"
    assert repr(types.INTERP_LINEAR) == "types.INTERP_LINEAR"
    assert types.to_numpy_type(types.FLOAT16) is np.float16
    assert (types.NCHW, types.NHWC) == ("CHW", "HWC")


def test_the_nearest_constant_is_named() -> None:
    with pytest.raises(AttributeError, match=r"'RBG'. Did you mean 'RGB'\?"):
        types.RBG  # noqa: B018
    assert not hasattr(types, "FLOAT33")


@pytest.mark.parametrize("dtype", [types.NO_TYPE, "none", None])
def test_no_type_is_the_inputs(dtype: Any) -> None:
    pipe = Pipeline(batch_size=1)
    with pipe:
        image = types.Constant(np.zeros((2, 2, 3), np.int16), layout="HWC")
        pipe.set_outputs(fn.resize(image, size=[1, 1], dtype=dtype))
    (batch,) = pipe.run()
    assert batch.as_array().dtype == np.int16


def test_a_computed_int_is_whole() -> None:
    pipe = Pipeline(batch_size=1)
    with pipe:
        image = types.Constant(np.zeros((2, 2, 3), np.uint8), layout="HWC")
        pipe.set_outputs(fn.flip(image, horizontal=types.Constant(0.9)))
    with pytest.raises(errors.SampleError, match=r"argument 'horizontal' expects int, got 0\.9"):
        pipe.run()


def test_a_node_as_argument_is_computed_per_sample() -> None:
    pipe = Pipeline(batch_size=64, seed=5)
    with pipe:
        image = types.Constant(np.array([[[1], [2]]], np.uint8), layout="HWC")
        pipe.set_outputs(fn.flip(image, horizontal=fn.random.coin_flip()))
    (flipped,) = pipe.run()
    first = flipped.as_array()[:, 0, 0, 0]
    assert set(first.tolist()) == {1, 2}


@pytest.mark.parametrize(
    ("value", "expected", "dtype"),
    [
        (3, 3, np.int32),
        (2.5, 2.5, np.float32),
        (True, True, np.bool_),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]], np.int32),
        (np.array([1.5, 2.0]), [1.5, 2.0], np.float32),
        (np.uint8(7), 7, np.uint8),
    ],
)
def test_constants_as_outputs(value: Any, expected: Any, dtype: Any) -> None:
    pipe = Pipeline(batch_size=2)
    pipe.set_outputs(value)
    (batch,) = pipe.run()
    sample = np.asarray(batch[1])
    assert sample.dtype == dtype
    np.testing.assert_array_equal(sample, expected)


@pytest.mark.parametrize("value", ["x", None, b"x", {}, ["a"]])
def test_outputs_are_nodes_or_numbers(value: Any) -> None:
    with pytest.raises(errors.GraphError, match=r"output 1 is of type .*, not a node"):
        Pipeline(batch_size=1).set_outputs(1, value)


def test_a_wrong_argument_names_the_line_and_the_nearest() -> None:
    with Pipeline(batch_size=1), pytest.raises(errors.GraphError) as caught:
        line = here() + 1
        fn.readers.file(file_rot="x")
    assert f"test_definition.py:{line})" in str(caught.value)
    assert "Did you mean 'file_root'?" in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_list_of_nodes_is_no_output() -> None:
    pipe = Pipeline(batch_size=1)
    nodes = [fn.constant(idata=1), fn.constant(idata=2)]
    with pytest.raises(errors.GraphTypeError, match=r"list of nodes; set_outputs\(\*nodes\)"):
        pipe.set_outputs(nodes)
    pipe.set_outputs(*nodes)
    assert [batch.as_array().item() for batch in pipe.run()] == [1, 2]


def test_what_is_refused_adds_no_node() -> None:
    with Pipeline(batch_size=1) as pipe:
        node = fn.constant(idata=1)
        with pytest.raises(errors.GraphError, match="device expects 'cpu' or 'gpu', got 'tpu'"):
            node.shape(device="tpu")
        with pytest.raises(errors.GraphError, match="argument 'dtype' expects"):
            node.shape(dtype=object())
    assert len(pipe._definition.graph.nodes()) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: fn.random_resized_crop(x), "argument 'size' is required"),
        (lambda x: fn.resize(x, size=object()), "argument 'size' expects a number"),
        (lambda x: fn.resize(x, size=["a", 1]), "expects a list of one type"),
        (lambda x: fn.resize(x, size=[x, 1]), "must be the whole argument"),
        (lambda x: fn.resize(x, size=[1, None]), "without None"),
        (lambda x: fn.copy((x, x)), "input 0 is a tuple of nodes"),
        (lambda x: fn.slice([x, x], [x]), "expect one length, got 2 (input 0), 1 (input 1)"),
        (lambda x: fn.copy("x"), "input 0 is of type str, not a node"),
        (lambda x: fn.copy([[x]]), "input 0 is of type list, not a node"),
        (
            lambda _: fn.decoders.image(fn.readers.file(file_root="x")),
            "input 0 holds the 2 outputs of readers.file; unpack them: bytes, label = ...",
        ),
        (lambda x: fn.crop(x, crop=[0.5, 0.5]), "argument 'crop' asks for 0.5 of a pixel"),
        (lambda x: fn.crop(x, out_of_bounds_policy="pat"), "'pat'. Did you mean 'pad'?"),
        (lambda x: fn.cast(x, dtype=types.NO_TYPE), "argument 'dtype' expects a dtype"),
        (
            lambda x: fn.random_resized_crop(x, size=[10**12]),
            "argument 'size' expects int of this size, got [1000000000000]",
        ),
        (lambda x: fn.random_resized_crop(x, size=4, seed="x"), "argument 'seed' expects int"),
        (lambda x: types.Constant("x"), "the value expects numbers, got 'x'"),
        (lambda x: fn.copy(x, x), "takes 1 input"),
        (lambda x: fn.copy(x, device="tpu"), "device expects 'cpu', 'gpu' or 'mixed', got 'tpu'"),
        (lambda x: fn.copy(x, name=3), "name expects a str"),
        (lambda x: fn.copy(fn.copy(x, name="twin"), name="twin"), "are named 'twin'"),
        (lambda x: fn.random.coin_flip(probability=2.0), "probability"),
        (lambda x: fn.resize(x, interp_type="INTERP_BEST"), "INTERP_LANCZOS3"),
    ],
)
def test_refused_calls(call: Any, message: str) -> None:
    pipe = Pipeline(batch_size=1)
    with pipe, pytest.raises(errors.GraphError) as caught:
        x = types.Constant(np.zeros((2, 2, 3), np.uint8), layout="HWC")
        node = call(x)
        pipe.set_outputs(node)
        pipe.build()
    assert message in str(caught.value)
    assert "test_definition.py:" in str(caught.value)


def test_nodes_stay_in_their_pipeline() -> None:
    with Pipeline(batch_size=1):
        stranger = fn.random.uniform()
    other = Pipeline(batch_size=1)
    with other, pytest.raises(errors.GraphError, match="belongs to another pipeline"):
        fn.copy(stranger)
    with pytest.raises(errors.GraphError, match="belongs to another pipeline"):
        other.set_outputs(stranger)


def test_nodes_have_no_value() -> None:
    with Pipeline(batch_size=1):
        node = fn.random.uniform(name="draw")
        assert repr(node) == "DataNode(name='draw', device='cpu')"
        with pytest.raises(
            errors.GraphError, match="has no value while the pipeline is being defined"
        ):
            bool(node)
        with pytest.raises(TypeError):
            _first, _second = node


@pytest.mark.parametrize("number", [np.float32(2), np.ones(2)])
def test_numpy_leaves_arithmetic_to_nodes(number: Any) -> None:
    with Pipeline(batch_size=1):
        node = fn.random.uniform()
        assert isinstance(number * node, DataNode) and isinstance(number == node, DataNode)


def test_nodes_of_a_built_pipeline_take_no_arithmetic() -> None:
    with Pipeline(batch_size=1) as pipe:
        node = fn.random.uniform()
        pipe.set_outputs(node)
    pipe.build()
    with pytest.raises(errors.GraphError, match="the pipeline is built"):
        _ = node + 1


def test_nodes_are_hashable() -> None:
    with Pipeline(batch_size=1):
        one, other = fn.random.uniform(), fn.random.uniform()
    assert len({one, other, one}) == 2
    assert {one: 1, other: 2}[other] == 2
    assert other in [other] and [one, other].index(one) == 0


def test_the_engine_s_stub_is_complete(repository: Path) -> None:
    stub = ast.parse((repository / "python" / "stoker" / "_core.pyi").read_text())
    stubbed = {item.name: item for item in stub.body if hasattr(item, "name")}
    assert set(stubbed) == {n for n in dir(_core) if not n.startswith("_")}
    for name, item in stubbed.items():
        if isinstance(item, ast.ClassDef) and not issubclass(getattr(_core, name), Exception):
            inside = {m.name for m in item.body if isinstance(m, ast.FunctionDef)}
            inside |= {m.target.id for m in item.body if isinstance(m, ast.AnnAssign)}
            real = set(vars(getattr(_core, name)))
            assert inside - {"__init__"} <= real
            assert {n for n in real if not n.startswith("_")} <= inside


def test_stubs_show_what_the_functions_take(repository: Path, tmp_path: Path) -> None:
    load_tool(repository, "make_stubs").main(tmp_path)
    seen = set()
    for path in (tmp_path / "fn").rglob("*.pyi"):
        parts = path.relative_to(tmp_path / "fn").with_suffix("").parts
        prefix = "".join(f"{p}." for p in parts if p != "__init__")
        for item in ast.parse(path.read_text()).body:
            if isinstance(item, ast.FunctionDef):
                args = item.args
                by_position = args.posonlyargs + args.args + [args.vararg] * bool(args.vararg)
                shown = [a.arg for a in by_position + args.kwonlyargs]
                assert shown == list(inspect.signature(resolve(prefix + item.name)).parameters)
                assert ast.get_docstring(item)
                seen.add(prefix + item.name)
    assert seen == set(operators())


@pytest.mark.parametrize(
    "tool", ["make_docs", "make_moving_over", "make_stubs", "make_transforms_table"]
)
def test_asking_for_help_writes_nothing(repository: Path, tmp_path: Path, tool: str) -> None:
    asked = subprocess.run(
        [sys.executable, repository / "tools" / f"{tool}.py", "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout.startswith("usage:")
    assert list(tmp_path.iterdir()) == []


def test_pages_tell_everything(repository: Path, tmp_path: Path) -> None:
    load_tool(repository, "make_docs").main(tmp_path)
    index = (tmp_path / "index.md").read_text()
    for name, op in operators().items():
        page = (tmp_path / f"{name}.md").read_text()
        assert f"({name}.md)" in index
        for a in op["arguments"]:
            assert f"| `{a['name']}` |" in page
        for case in op["cases"]:
            assert f"{case['call']})" in page
            assert all(f"  out  {o[:60]}" in page for o in case["outputs"])


def test_the_page_that_is_committed_is_current(repository: Path) -> None:
    page = load_tool(repository, "make_docs").page(operators()["resize"])
    assert (repository / "docs" / "ops" / "resize.md").read_text() == page, "make docs"


def test_pages_show_all_alternatives_of_a_type(repository: Path) -> None:
    tool = load_tool(repository, "make_docs")
    table = operators()

    def shown(operator: str, argument: str) -> str:
        page = tool.page(table[operator])
        (row,) = (r for r in page.splitlines() if r.startswith(f"| `{argument}` |"))
        cells = row.split(" | ")
        assert len(cells) == 6 and "\\|" not in row, row
        return str(cells[1])

    assert shown("readers.file", "recursive") == "`bool`"
    assert shown("readers.file", "labels") == "`int`, `Sequence[int]` or an array"
    assert shown("readers.file", "shard_id") == '`"auto"` or `int`'
    assert shown("readers.file", "files") == "`str`, `os.PathLike` or a `Sequence` of these"
    assert shown("readers.file", "epoch_end") == '`"continue"`, `"pad"` or `"drop"`'
    assert shown("crop", "crop") == "`float`, `Sequence[float]` or an array"
    assert shown("cast", "dtype") == "`DType`, `str`, `type` or a dtype of NumPy or PyTorch"
    cycle = '`"no"`, `"quiet"`, `"raise"`, `bool` or `None`'
    assert shown("external_source", "cycle") == cycle
    for name, op in table.items():
        for a in [*op["arguments"], *op["extra"]]:
            assert shown(name, a["name"]), name


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([True, False], "bool"),
        ([True, 2], "int32"),
        ([], "float32"),
        (2**40, "int64"),
        (np.ones(2), "float32"),
        (np.ones(2, np.int64), "int32"),
        (np.full(2, 2**40), "int64"),
        (np.ones(2, np.uint64), "uint32"),
        (np.ones(2, np.int16), "int16"),
        (np.array([True]), "bool"),
    ],
)
def test_dtypes_of_constants(value: Any, dtype: str) -> None:
    (batch,) = make(lambda: types.Constant(value)).run()
    assert np.array(batch[0]).dtype == dtype
    assert np.array_equal(np.array(batch[0]), value)
