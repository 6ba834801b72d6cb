# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts of the established library run unchanged, and hear what Stoker lacks."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path
from typing import Any

import pytest
from compat_scripts import RECORDED, ROOT, run, written

from helpers import load_tool


@pytest.fixture(scope="module")
def recorded_pictures(tmp_path_factory: pytest.TempPathFactory) -> Any:
    tool = load_tool(ROOT, "record_peer_scripts")
    return tool.make_pictures(tmp_path_factory.mktemp("recorded") / "pictures")


def difference(got: Any, right: Any) -> str:
    """Where two values of JSON differ; "" if they do not, or only by rounding.

    Whole numbers among floats, which are pixels, may differ by 1, and floats by a hundredth of the
    largest in their list.
    """
    if isinstance(right, float) and isinstance(got, float):
        return difference([got], [right])
    if isinstance(right, dict) and isinstance(got, dict) and got.keys() == right.keys():
        found = ((f".{key}", difference(got[key], right[key])) for key in right)
    elif isinstance(right, list) and isinstance(got, list) and len(got) == len(right):
        if right and all(isinstance(v, float) for v in [*got, *right]):
            near = max(map(abs, right)) / 100
            pairs = enumerate(zip(got, right, strict=True))
            wrong = [(i, g, r) for i, (g, r) in pairs if not is_near(g, r, near)]
            return f"[{wrong[0][0]}]: {wrong[0][1]} instead of {wrong[0][2]}" if wrong else ""
        both = enumerate(zip(got, right, strict=True))
        found = ((f"[{i}]", difference(g, r)) for i, (g, r) in both)
    else:
        return "" if got == right else f": {str(got)[:200]} instead of {str(right)[:200]}"
    return next((where + text for where, text in found if text), "")


def is_near(got: float, right: float, near: float) -> bool:
    return abs(got - right) <= max(near, got.is_integer() and right.is_integer())


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_scripts_print_what_they_print_there(
    name: str, recorded_pictures: Path, tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    script = ROOT / "tests" / "compat" / "scripts" / f"{name}.py"
    done = run(script, recorded_pictures, options=("--report", report))
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert not difference(lines, RECORDED[name])
    told = json.loads(report.read_text())
    assert (told["missing"], told["without_effect"]) == ({}, [])


def test_every_script_is_recorded() -> None:
    assert {p.stem for p in (ROOT / "tests" / "compat" / "scripts").glob("*.py")} == set(RECORDED)


def test_a_script_sees_what_it_sees_in_plain_python(tmp_path: Path) -> None:
    script = written(
        tmp_path,
        """
        import json, sys
        from pathlib import Path
        import helper_module
        import __main__
        print(json.dumps([
            sys.argv, __name__, __file__, __main__.__dict__ is globals(), sys.path[0],
            helper_module.VALUE, __doc__, sorted(k for k in globals() if not k.startswith("__")),
        ]))
        """,
    )
    written(tmp_path, "VALUE = 3\n", "helper_module.py")
    plain = subprocess.run(
        [sys.executable, str(script), "--report", "x"], capture_output=True, text=True, check=True
    )
    done = run(script, "--report", "x")
    assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, "", 0)


@pytest.mark.parametrize(
    ("ending", "status"),
    [("sys.exit(3)", 3), ("sys.exit()", 0), ("sys.exit('bye')", 1), ("raise ValueError('x')", 1)],
)
def test_exit_codes_and_tracebacks(tmp_path: Path, ending: str, status: int) -> None:
    script = written(tmp_path, f"import sys\ndef end():\n    {ending}\nend()\n")
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    done = run(script)
    assert (done.returncode, done.stdout, done.stderr) == (status, plain.stdout, plain.stderr)


def test_a_script_that_does_not_parse_or_exist(tmp_path: Path) -> None:
    broken = run(written(tmp_path, "x = = 1\n"))
    assert broken.returncode == 1 and "SyntaxError" in broken.stderr
    missing = run(tmp_path / "none.py")
    assert missing.returncode == 2 and "No such file" in missing.stderr


def in_process(tmp_path: Path, text: str, **report: str) -> Any:
    """The JSON that the script printed, and its report."""
    path = tmp_path / "report.json"
    done = run(written(tmp_path, text), options=("--report", path), **report)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), json.loads(path.read_text())


def test_modules_are_stoker_s(tmp_path: Path) -> None:
    got, report = in_process(
        tmp_path,
        """
        import json
        import nvidia.dali, stoker
        import nvidia.dali.fn as fn
        import nvidia.dali.ops.readers
        from nvidia.dali import Pipeline, fn as same, ops, pipeline_def, types, newaxis
        from nvidia.dali.backend import TensorListCPU
        from nvidia.dali.data_node import DataNode
        from nvidia.dali.fn.decoders import image
        from nvidia.dali.pipeline import Pipeline as P, pipeline_def as pd
        from nvidia.dali.pipeline.experimental import pipeline_def as old
        from nvidia.dali.tensors import TensorCPU
        from nvidia.dali.types import *
        import nvidia.dali.plugin.numba, sys
        print(json.dumps([
            nvidia.dali.plugin.numba.fn is sys.modules["nvidia.dali.plugin.numba.fn"],
            fn is same, image is stoker.fn.decoders.image, P is Pipeline, pd is old is pipeline_def,
            DataNode is stoker.DataNode, types.FLOAT is stoker.types.FLOAT, FLOAT is types.FLOAT,
            ops.Resize is stoker.ops.Resize, nvidia.dali.ops.readers.File is ops.readers.File,
            issubclass(Pipeline, stoker.Pipeline), newaxis is stoker.newaxis, "resize" in dir(fn),
            nvidia.dali.__version__.count(".") == 2,
        ]))
        """,
    )
    assert all(got)
    assert (report["missing"], report["without_effect"]) == ({}, [])


def test_private_names_of_ops(tmp_path: Path) -> None:
    got, report = in_process(
        tmp_path,
        """
        import json
        import numpy as np
        from nvidia.dali import fn, ops, pipeline_def
        from nvidia.dali.ops import _DataNode, _dlpack_from_array, _dlpack_to_array

        def function(capsules):
            arrays = [_dlpack_to_array(c) for c in capsules]
            for array in arrays:
                array += 1
            return [_dlpack_from_array(a) for a in arrays]

        @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        def pipe():
            x = fn.external_source(lambda: np.arange(6, dtype=np.int16).reshape(2, 3))
            assert isinstance(x, _DataNode)
            return ops.DLTensorPythonFunction(function=function)(x)

        fixed = np.arange(3)
        fixed.flags.writeable = False
        again = _dlpack_to_array(_dlpack_from_array(fixed))
        again[:] = 7
        print(json.dumps([pipe().run()[0].as_array().tolist(), fixed.tolist()]))
        """,
    )
    assert got == [[[1, 2, 3], [4, 5, 6]], [0, 1, 2]]
    assert report["missing"] == {}


def test_modules_that_write_indexes(tmp_path: Path) -> None:
    record = b"".join(
        bytes.fromhex("0a23d7ce") + len(data).to_bytes(4, "little") + data + bytes(-len(data) % 4)
        for data in (bytes(24) + b"first", bytes(24) + b"another")
    )
    (tmp_path / "a.rec").write_bytes(record)
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in ("x.jpg", "x.cls", "y.jpg"):
            archive.addfile(tarfile.TarInfo(name))
    got, _ = in_process(
        tmp_path,
        f"""
        import json, os
        os.chdir({str(tmp_path)!r})
        import rec2idx
        from wds2idx import IndexCreator
        from stoker import errors
        with IndexCreator("a.tar", "wds.idx", verbose=False) as creator:
            creator.create_index()
        creator = rec2idx.IndexCreator("a.rec", "rec.idx")
        creator.create_index()
        creator.close()
        try:
            rec2idx.IndexCreator("a.tar", "none.idx").create_index()
        except errors.SampleError:
            print(json.dumps([open(f).read() for f in ("wds.idx", "rec.idx")]))
        """,
    )
    assert got[0] == "v1.2 2\njpg 512 0 x.jpg cls 1024 0 x.cls\njpg 1536 0 y.jpg\n"
    assert got[1] == "0\t0\n1\t40\n"
    assert not (tmp_path / "none.idx").exists()


def test_what_is_missing_says_so(tmp_path: Path) -> None:
    got, report = in_process(
        tmp_path,
        """
        import importlib, json
        import nvidia.dali as dali
        from nvidia.dali import fn, ops, types
        said = []
        for ask in (
            lambda: fn.clahe, lambda: ops.readers.Video,
            lambda: fn.debayer, lambda: fn.rezise,
            lambda: dali.reducers,
        ):
            try:
                ask()
            except AttributeError as e:
                said.append(str(e))
        for name in ("plugin.paddle", "experimental.dynamic", "nothing"):
            try:
                importlib.import_module("nvidia.dali." + name)
            except ImportError as e:
                said.append(str(e))
        print(json.dumps(said))
        """,
    )
    planned, never, unknown = (
        "is not in Stoker yet (planned)",
        "and not planned",
        "does not know this name",
    )
    expected = {
        "fn.clahe": planned,
        "ops.readers.Video": planned,
        "fn.debayer": planned,
        "fn.rezise": unknown,
        "reducers": planned,
        "plugin.paddle": never,
        "experimental.dynamic": never,
        "nothing": unknown,
    }
    for name, text in zip(expected, got, strict=True):
        assert f"nvidia.dali.{name} " in text and expected[name] in text, text
    assert list(report["missing"]) == [f"nvidia.dali.{n}" for n in expected]
    assert set(report["missing"].values()) == {"planned", "not planned", "unknown"}


def test_policies_need_no_framework(tmp_path: Path) -> None:
    got, _ = in_process(
        tmp_path,
        """
        import json, sys
        for name in ("jax", "mxnet", "tensorflow", "torch"):
            sys.modules[name] = None
        from nvidia.dali.plugin.base_iterator import LastBatchPolicy
        print(json.dumps([policy.name for policy in LastBatchPolicy]))
        """,
    )
    assert got == ["FILL", "DROP", "PARTIAL"]


def test_what_has_no_effect_is_reported(tmp_path: Path) -> None:
    script = written(
        tmp_path,
        """
        from nvidia.dali import backend, fn, pipeline_def
        @pipeline_def(batch_size=2, num_threads=1, device_id=None, max_streams=2)
        def pipe():
            return fn.random.uniform(bytes_per_sample_hint=8)
        pipe().run()
        backend.ReleaseUnusedMemory()
        """,
    )
    done = run(script)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "stoker.run: accepted without effect:",
        "stoker.run:   Pipeline(max_streams=2)",
        "stoker.run:   random.uniform(bytes_per_sample_hint=8)",
        "stoker.run:   backend.ReleaseUnusedMemory()",
    ]


def test_arithmetic_on_nodes_runs(tmp_path: Path) -> None:
    script = written(
        tmp_path,
        """
        import nvidia.dali as dali
        import nvidia.dali.math as math
        from nvidia.dali import fn, pipeline_def
        @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        def pipe():
            draw = fn.random.uniform(range=[1.0, 2.0], shape=[3])
            return math.floor(draw * 0.5) + (draw > 0), draw[:, dali.newaxis]
        first, second = pipe().run()
        print(first.as_array().tolist(), second.as_array().shape)
        """,
    )
    done = run(script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] == "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]] (2, 3, 1)"
    assert not done.stderr


def test_help_says_its_usage_once() -> None:
    done = run(Path("--help"))
    assert done.returncode == 0
    assert done.stdout.count("[--report FILE]") == 1
    assert "SCRIPT" in done.stdout.splitlines()[0]


def test_the_report_is_written_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    done = run(
        written(tmp_path, "from nvidia.dali import fn\nfn.debayer\n"), options=("--report", path)
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("AttributeError: nvidia.dali.fn.debayer is not")
    assert json.loads(path.read_text())["missing"] == {"nvidia.dali.fn.debayer": "planned"}


def test_the_real_library_is_never_imported(tmp_path: Path) -> None:
    real = tmp_path / "site" / "nvidia" / "dali"
    real.mkdir(parents=True)
    (real / "__init__.py").write_text("raise RuntimeError('the real one')\n")
    (tmp_path / "site" / "nvidia" / "other.py").write_text("VALUE = 4\n")
    text = """
        import json, subprocess, sys
        import nvidia.dali, nvidia.other
        code = "import nvidia.other, nvidia.dali.fn as fn; print(fn.resize.__module__)"
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        print(json.dumps([nvidia.other.VALUE, child.stdout, child.stderr]))
        """
    got, _ = in_process(tmp_path, text, PYTHONPATH=str(tmp_path / "site"))
    assert got == [4, "stoker.fn\n", ""]
    late = f"""
        import sys, types
        sys.modules["nvidia.dali"] = types.ModuleType("nvidia.dali")
        sys.modules["nvidia.dali"].__file__ = {str(real)!r}
        import stoker.compat
        try:
            stoker.compat.install()
        except RuntimeError as e:
            print(e)
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(late)], capture_output=True, text=True, check=True
    )
    assert "must come before 'import nvidia.dali'" in done.stdout


def test_install_without_the_runner(tmp_path: Path) -> None:
    text = """
        import stoker.compat
        assert not stoker.compat.is_installed()
        stoker.compat.install()
        stoker.compat.install()
        from nvidia.dali import fn
        import stoker, sys
        print(fn.resize is stoker.fn.resize, stoker.compat.is_installed(), len(
            [p for p in sys.path if p.endswith("site") and "compat" in p]))
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True True 1\n"
