# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The command line as a whole: help, wrong words, completion, and the verbs made elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import stoker.index
import stoker.run
from stoker._cli.main import main, make_parser

VERBS = ["check", "bench", "show", "optimise", "info", "run", "index", "completion"]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stoker", *words], capture_output=True, text=True, check=False
    )


def test_help_names_all_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    text = capsys.readouterr().out
    assert end.value.code == 0
    assert all(f"    {verb} " in text or f"    {verb}\n" in text for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([verb, "--help"])
    assert end.value.code == 0
    assert f"usage: stoker {verb}" in capsys.readouterr().out


def test_a_wrong_verb_lists_the_right_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["show-all"])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert "'show-all'" in error and "check" in error and "bench" in error


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"stoker {stoker.__version__}\n"


def test_the_module_is_the_command(pictures: Path) -> None:
    done = run("check", str(pictures))
    assert (done.returncode, done.stderr) == (0, "")  # no progress where there is no terminal
    assert "24 good" in done.stdout


@pytest.mark.parametrize("verb", ["check", "bench", "show", "optimise"])
def test_a_place_that_is_not_there(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "/no/such/place"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"stoker {verb}: ") and "/no/such/place" in error


@pytest.mark.parametrize("verb", ["bench", "show"])
def test_a_folder_without_pictures(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("nothing to see")
    assert main([verb, str(tmp_path)]) == 2
    assert "no pictures among its 1 files" in capsys.readouterr().err


@pytest.fixture
def one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the devices of a process are found once, other tests would have none."""
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")


@pytest.mark.usefixtures("one_device")
def test_info_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["version"] == stoker.__version__
    assert {"format": "BMP", "kind": "picture", "is_there": True, "package": ""} in facts["codecs"]
    assert any("libjpeg" in path for path in facts["libraries"])
    assert facts["cpus"] >= 1 and facts["cpu_level"]


@pytest.mark.usefixtures("one_device")
def test_frameworks_under_other_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "tensorflow_cpu-2.99.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Name: tensorflow-cpu\nVersion: 2.99.0\n")
    (package / "top_level.txt").write_text("tensorflow\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert main(["info"]) == 0
    assert "packages: tensorflow 2.99.0\n" in capsys.readouterr().out
    monkeypatch.setattr(sys, "path", [])
    assert main(["info"]) == 0
    assert "packages:" not in capsys.readouterr().out


@pytest.mark.usefixtures("one_device")
def test_info_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"stoker {stoker.__version__} in ")
    assert "JPEG" in text and "usable CPUs" in text


def test_run_runs_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nimport nvidia.dali\nprint(sys.argv[1:])\nsys.exit(7)\n")
    done = run("run", str(script), "--epochs", "3")
    assert done.returncode == 7, done.stderr
    assert "['--epochs', '3']" in done.stdout


def test_index_writes_an_index(tmp_path: Path) -> None:
    done = run("index", "tfrecord", str(tmp_path / "gone.tfrecord"))
    assert done.returncode == 1
    assert "gone.tfrecord" in done.stderr


def test_index_never_overwrites_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / folder / "x.tar" for folder in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        with tarfile.open(file, "w"):
            pass
    words = ["index", "webdataset", *map(str, files)]
    assert main([*words, "--output-dir", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("stoker index: ") and f"would both be {tmp_path}/x.idx" in error
    assert not (tmp_path / "x.idx").exists()
    assert main([*words, str(files[0])]) == 0
    assert all(file.with_suffix(".idx").exists() for file in files)


@pytest.mark.parametrize(
    "words",
    [
        ["index", "tfrecord", "{empty}", "--output-dir", "/no/such"],
        ["run", "--report", "/no/such/report", "{script}"],
        ["run", "--check", "--report", "/no/such/report", "{script}"],
        ["check", "{script}.png", "--report", "/no/such/report"],
        ["run", "/no/such/script.py"],
    ],
)
def test_what_cannot_be_written_or_read(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the script runs."""
    script, empty = tmp_path / "script.py", tmp_path / "empty.tfrecord"
    script.write_text("raise AssertionError('the script ran')\n")
    empty.touch()
    assert main([word.format(script=script, empty=empty) for word in words]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"stoker {words[0]}: ") and "/no/such" in shown.err
    assert "Traceback" not in shown.err + shown.out


@pytest.mark.parametrize("verb", ["index", "run"])
def test_ctrl_c(verb: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(stoker.index._KINDS, "tfrecord", (interrupted, True, ".idx"))
    monkeypatch.setattr(stoker.run, "_check", interrupted)
    (tmp_path / "script.py").touch()
    words = {"index": ["tfrecord"], "run": ["--check"]}
    assert main([verb, *words[verb], str(tmp_path / "script.py")]) == 130


def test_options_stand_anywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).touch()
    words = ["check", "--json", str(tmp_path / "a.png"), "--threads", "1", str(tmp_path / "b.png")]
    assert main(words) == 1
    assert len(capsys.readouterr().out.splitlines()) == 2
    with pytest.raises(SystemExit):
        main([*words, "--no-such"])
    assert "stoker check: error: unrecognized arguments: --no-such" in capsys.readouterr().err


def test_messages_name_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.png").touch()
    assert main(["bench", str(tmp_path), "--size", "9999999"]) == 2
    assert "'random_resized_crop_0' (stoker bench): the output" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["run", "show"])
def test_messages_name_the_line_of_a_script(verb: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from stoker import fn, pipeline_def\n\n@pipeline_def(batch_size=1)\ndef wrong():\n"
        "    return fn.readers.file(files=[])\n\nif __name__ == '__main__':\n    wrong().build()\n"
    )
    assert f" ({script}:5): argument 'files'" in run(verb, str(script)).stderr


def test_run_names_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run"])
    assert capsys.readouterr().err.endswith("the following arguments are required: SCRIPT\n")
    with pytest.raises(SystemExit):
        main(["run", "-m", "package.train"])
    assert "-m is not taken: give the file" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--check"]])
@pytest.mark.parametrize("text", ["x = (\n", "x = 1\0\n"])
def test_a_script_that_python_cannot_read(
    words: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.py"
    script.write_text(text)
    done = run("run", *words, str(script))
    assert done.returncode == (2 if words else 1)
    assert "was never closed" in done.stderr or "null bytes" in done.stderr
    assert "run.py" not in done.stderr and "ast.py" not in done.stderr


def completed(script: str, line: str, folder: str | Path = "/") -> list[str]:
    """What bash offers at the end of a command line."""
    words = line.split(" ")
    program = (
        f"{script}\nCOMP_WORDS=({' '.join(words)} ); COMP_CWORD={len(words) - 1}\n"
        "_stoker\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    done = subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, check=True, cwd=folder
    )
    return done.stdout.splitlines()


def test_bash_completes_verbs_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert completed(script, "stoker ch") == ["check"]
    assert completed(script, "stoker check --re") == ["--report"]
    assert "usr" in completed(script, "stoker check us")
    assert completed(script, "stoker run --") == ["--help", "--report", "--check"]
    assert completed(script, "stoker index web") == ["webdataset"]


def test_bash_completes_names_with_blanks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", "bash"]) == 0
    (tmp_path / "my pictures").mkdir()
    script = capsys.readouterr().out
    assert completed(script, "stoker check my", tmp_path) == ["my pictures"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_is_completed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    (verbs,) = (a for a in make_parser()._actions if isinstance(a.choices, dict))
    for verb, parser in verbs.choices.items():  # type: ignore[union-attr]
        assert verb in script
        for action in parser._actions:
            for option in action.option_strings:
                if option.startswith("--"):
                    assert (option if shell != "fish" else f"-l {option[2:]}") in script
