# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""``stoker.run --check``: a script of the established library is read instead of run."""

from __future__ import annotations

import json
from pathlib import Path

from compat_scripts import RECORDED, ROOT, run, written

ASKS_FOR_MUCH = """
import nvidia.dali as dali
import nvidia.dali.plugin.paddle
from nvidia.dali import fn, ops, pipeline_def, types, Pipeline as P
from nvidia.dali.backend import TensorListCPU, Nothing
from nvidia.dali.auto_aug.rand_augment import rand_augment
readers = fn.readers
@pipeline_def(batch_size=2, bogus_setting=3)
def made():
    data, label = readers.file(file_root="x", bogus=3, name="Reader")
    wide = fn.debayer(data)
    wide = fn.resize(wide, size=3,
                     resize_v=4, minibatch_size=3)
    other = dali.fn.debayer(data)
    noise = dali.fn.noisy.shot(data, types.NOPE)
    made = rand_augment(data, n=2, m=3, strength=3)
    return ops.Resize(size=3, sise=3)(data), fn.lookup_table(data)
class Mine(P):
    pass
pipe = made(batch_size=3)
pipe.build(); pipe.frobnicate(); pipe.run()
mine = Mine(2, 1, 0); mine.iterate
raise SystemExit("it was run")
"""


def test_a_script_is_checked_without_running_it(tmp_path: Path) -> None:
    script = written(tmp_path, ASKS_FOR_MUCH.lstrip())
    path = tmp_path / "report.json"
    done = run(script, options=("--check", "--report", path))
    assert done.returncode == 1 and not done.stderr
    found = {entry["what"]: entry for entry in json.loads(path.read_text())["missing"]}
    assert {what: entry["lines"] for what, entry in found.items()} == {
        "plugin.paddle": [2],
        "backend.Nothing": [4],
        "pipeline_def(bogus_setting=)": [7],
        "fn.readers.file(bogus=)": [9],
        "fn.debayer": [10, 13],
        "fn.resize(resize_v=)": [12],
        "fn.noisy": [14],
        "types.NOPE": [14],
        "auto_aug.rand_augment.rand_augment(strength=)": [15],
        "ops.Resize(sise=)": [16],
        "Pipeline.frobnicate": [20],
        "Pipeline.iterate": [21],
    }
    assert [found[w]["status"] for w in ("plugin.paddle", "fn.debayer", "fn.noisy")] == [
        "not planned",
        "planned",
        "unknown",
    ]
    lines = done.stdout.splitlines()
    assert len(lines) == len(found)
    assert all(line.startswith(f"stoker.run: {script}:") for line in lines)
    planned = "nvidia.dali.fn.debayer is not in Stoker yet (planned)"
    assert f"stoker.run: {script}:10, 13: {planned}" in lines
    assert "established library" not in done.stdout


GIVES_DICTS = """
from nvidia.dali import fn, ops, pipeline_def, Pipeline
COMMON = {"size": 3, "sise": 4}
def certain(x, **more):
    args = dict(device="cpu", bogus=3)
    args["wrong"] = 4
    args.update({"extra": 5}, other=6)
    x = fn.resize(x, **args)
    x = fn.flip(x, **{**more, "upside": 1} | dict(horizontal_=1))
    args = dict(args, last=2)
    args.pop("other"); del args["extra"]
    x = fn.rotate(x, **args, **COMMON)
    return fn.resize(x, **more)
def uncertain(x, flag, args, COMMON):
    x = fn.resize(x, **args, **COMMON)
    if flag:
        kind = {"sze": 3}
    else:
        kind = {"size": 3}
    x = fn.resize(x, **kind)
    kind = dict(sze=3)
    change(kind)
    x = fn.resize(x, **kind)
    rest = dict(size=3)
    if flag:
        rest["angle"] = 3
        rest = {"angle": rest.pop("angle")}
        x = fn.rotate(x, **rest)
    return fn.resize(x, **rest)
class Mine(Pipeline):
    def __init__(self, decode):
        super().__init__(2, 1, 0, typo=3)
        self.size, self.turn = ops.Resize(size=3), ops.Rotate()
        self.either = ops.Crop(crop=3)
        self.either = ops.Slice()
        self.taken = ops.Flip()
        self.taken = decode
    def define_graph(self):
        x = self.size(self.turn(1, angel=3, name="t"), oops=4)
        x = self.either(x, crop_pos_x=0.5, normalized_anchor=True, mistake=1)
        return ops.Flip(horizontal=1)(self.taken(x, anything=3), upside=1)
@pipeline_def
def made(first, *, second):
    pass
made(1, second=2, third=3, batch_size=4)
"""


def test_arguments_that_dicts_and_objects_give_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    script = written(tmp_path, GIVES_DICTS.lstrip())
    done = run(script, options=("--check", "--report", path))
    assert done.returncode == 1 and not done.stderr
    found = json.loads(path.read_text())["missing"]
    assert {entry["what"]: entry["lines"] for entry in found} == {
        "fn.rotate(sise=)": [2],
        "fn.resize(bogus=)": [4],
        "fn.rotate(bogus=)": [4],
        "fn.resize(wrong=)": [5],
        "fn.rotate(wrong=)": [5],
        "fn.resize(extra=)": [6],
        "fn.resize(other=)": [6],
        "fn.flip(horizontal_=)": [8],
        "fn.flip(upside=)": [8],
        "fn.rotate(last=)": [9],
        "Pipeline(typo=)": [31],
        "ops.Rotate(angel=)": [38],
        "ops.Resize(oops=)": [38],
        "ops.Crop(mistake=)": [39],
        "ops.Flip(upside=)": [40],
        "pipeline_def(third=)": [44],
    }


def test_scripts_that_run_are_found_good() -> None:
    for name in RECORDED:
        done = run(ROOT / "tests" / "compat" / "scripts" / f"{name}.py", options=("--check",))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), name


def test_what_cannot_be_checked(tmp_path: Path) -> None:
    broken = run(written(tmp_path, "x = = 1\n"), options=("--check",))
    assert broken.returncode == 2 and "SyntaxError" in broken.stderr
    missing = run(tmp_path / "none.py", options=("--check",))
    assert missing.returncode == 2 and "No such file" in missing.stderr
    assert missing.stderr.startswith("stoker.run: ")


def test_check_behind_the_script_is_the_script_s_own_and_is_told_so(tmp_path: Path) -> None:
    script = written(tmp_path, "import sys\nprint(sys.argv[1:])\n")
    done = run(script, "--check", "x")
    assert done.stdout == "['--check', 'x']\n"
    assert done.stderr == (
        f"stoker.run: the script gets --check; to check it instead: --check {script}\n"
    )
    assert run(script, "x").stderr == ""
    assert run(script, options=("--check",)).stderr == ""
