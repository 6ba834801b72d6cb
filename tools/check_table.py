# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which tests a changed file concerns, and how long they take: the table of check.py.

tests/tools/test_check.py sees to it that every folder of sources has a row, that every test is in a
row, and that no row takes more than three minutes.
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

# C++ test programs, without "stoker_" and "_test": one for each of these folders of src/, and more.
FOLDERS = "base memory device batch io stores codec kernels op graph run"
PROGRAMS = f"{FOLDERS} operators cuda nvjpeg torture fuzz"

# What tests in these folders of tests/ share concerns them all.
SHARING = """
    compat conditionals conformance definition faults formats frameworks gpu new_operators pipelines
    stores user_code
"""

# Words that stand for Python tests in a row.
AT_ONCE = "at_once conformance/test_at_once.py transforms/test_compose.py"
OPERATOR = (
    "@operator"  # the conformance tests of the file's operator, or of all if it is no operator's
)
ITSELF = "@itself"  # the changed file, which is a test


class Row(NamedTuple):
    """The tests that concern the files of some patterns, whose * crosses folders."""

    files: str
    programs: str = ""
    python: str = ""  # files and folders in tests/, the nearest first


CONFORMANCE = "conformance"
FEEDS = "feeds/test_feed_input.py feeds/test_external_source.py feeds"
STATES = "pipelines/test_resume.py faults/test_damaged_states.py conformance/test_saved.py"
DEVICES = """
    devices pipelines/test_mixed.py gpu conformance/test_gpu.py conformance/test_gpu_faults.py
"""
DEFINING = """
    definition pipelines/test_outside.py conformance/test_describe.py
    compat/test_moving_over.py conformance/test_arguments.py conformance/test_saved.py
    compat/test_compat.py
"""
RUNNING = "running faults pipelines feeds"
USER_CODE = "user_code/test_python_function.py user_code/test_functions_in_pipelines.py user_code"
STORES = "stores conformance_readers"
CONTRACT = "frameworks/test_contract.py examples/test_guides.py"

# The first row that a file fits decides.
ROWS = [
    # The engine, in the order of its map.
    Row("src/device/cuda/*_test.cc src/codec/nvjpeg/*_test.cc", "cuda nvjpeg"),
    *(Row(f"src/{folder}/*_test.cc", folder) for folder in FOLDERS.split()),
    Row("src/ops/*_test.cc", "operators"),
    Row("src/base/*", PROGRAMS, "conformance/test_draws.py conformance/test_values.py pipelines"),
    Row(
        "src/memory/*",
        "memory device cuda batch io codec nvjpeg kernels run",
        "pipelines/test_outputs.py faults/test_limits.py running/test_running.py",
    ),
    Row("src/device/*", "device cuda nvjpeg batch codec kernels op run", DEVICES),
    Row(
        "src/batch/*",
        "batch run",
        """
        running/test_batches.py devices/test_device_batches.py pipelines/test_outputs.py
        feeds/test_source_info.py
        """,
    ),
    Row(
        "src/io/*",
        "io op operators run",
        """
        pipelines/test_reader.py conformance_readers pipelines/test_order.py
        pipelines/test_resume.py faults
        """,
    ),
    Row("src/stores/*", "stores operators fuzz", STORES),
    Row(
        "src/codec/*",
        "codec nvjpeg operators run",
        """
        formats pipelines/test_decode.py pipelines/test_mixed.py faults gpu
        new_operators/test_new_operator.py
        conformance/test_values.py conformance/test_windows.py
        """,
    ),
    Row(
        "src/kernels/jpeg/*",
        "kernels codec nvjpeg operators run",
        """
        formats pipelines/test_decode.py faults conformance/test_values.py
        conformance/test_windows.py
        """,
    ),
    Row(
        "src/kernels/*",
        "kernels op operators run",
        f"pipelines/test_augment.py pipelines/test_frames.py {CONFORMANCE}",
    ),
    Row(
        "src/op/*",
        "op operators run",
        f"{CONFORMANCE} new_operators",
    ),
    Row(
        "src/ops/read/*",
        "operators op",
        f"""
        {OPERATOR} conformance_readers stores conformance/test_describe.py
        conformance/test_recorded.py pipelines/test_reader.py pipelines/test_order.py
        feeds/test_feed_input.py feeds/test_source_info.py
        """,
    ),
    Row(
        "src/ops/batch/*",
        "operators op",
        f"""
        {OPERATOR} conformance/test_whole_batch_calls.py running/test_whole_batches.py
        conformance/test_describe.py conformance/test_recorded.py new_operators
        """,
    ),
    Row(
        "src/ops/inspect/dump_image.cc",
        "operators",
        "inspect conformance/test_describe.py compat/test_moving_over.py",
    ),
    Row(
        "src/ops/*",
        "operators op",
        f"""
        {OPERATOR} conformance/test_describe.py conformance/test_recorded.py
        conformance/test_fused.py new_operators
        """,
    ),
    Row("src/graph/*", "graph run", DEFINING),
    Row("src/run/feed/*", "run", FEEDS),
    Row("src/run/device/*", "run", DEVICES),
    Row(
        "src/run/machine*",
        "run",
        "running/test_shared_machine.py faults/test_limits.py running/test_running.py",
    ),
    Row("src/run/call/*", "run", AT_ONCE),
    Row("src/run/*", "run", f"running/test_running.py {STATES} conditionals {RUNNING}"),
    Row("src/README.md"),
    Row("src/*", PROGRAMS, "examples/test_cpp_example.py"),
    # The Python module and the package.
    Row("bindings/calls.cc python/stoker/_calls/*", python=AT_ONCE),
    Row("bindings/feed.cc bindings/arrays.*", python=f"{FEEDS} {USER_CODE}"),
    Row("bindings/functions.*", python=USER_CODE),
    Row("bindings/graph.cc bindings/values.cc", python=DEFINING),
    Row(
        """
        bindings/index.cc python/stoker/index.py python/stoker/tfrecord.py
        python/stoker/fn/_tfrecord.py
        """,
        python=STORES,
    ),
    Row("bindings/codecs.cc python/stoker/_codecs.py", python="formats cli"),
    Row("python/stoker/_optimise.py", python="cli"),
    Row("python/stoker/_replace.py", python=f"cli/test_cli_optimise.py {STORES}"),
    Row("bindings/jpeg.cc python/stoker/jpeg.py", python="formats/test_jpeg_module.py"),
    Row("python/stoker/images.py python/stoker/sounds.py", python="formats cli/test_cli_show.py"),
    Row(
        "python/stoker/_messages.py python/stoker/_pipeline/stats.py",
        python=f"""
        errors definition/test_definition.py {RUNNING}
        """,
    ),
    Row("python/stoker/_cli/* python/stoker/__main__.py python/stoker/_show.py", python="cli"),
    Row(
        "python/stoker/_command.py", python="cli compat/test_compat.py compat/test_compat_check.py"
    ),
    Row("bindings/devices.cc bindings/exchange.cc bindings/dlpack.h", python=DEVICES),
    Row("bindings/*", python=f"devices definition/test_definition.py {RUNNING}"),
    Row("python/stoker/_sources/*", python=FEEDS),
    Row(
        "python/stoker/_functions/* python/stoker/_graph/user_function.py",
        python=f"{USER_CODE} definition/test_definition.py definition/test_classes.py",
    ),
    Row("python/stoker/_describe/* python/stoker/_graph/*", python=DEFINING),
    Row("python/stoker/fn/* python/stoker/ops/*", python=DEFINING),
    Row("python/stoker/_pipeline/* python/stoker/_settings/*", python=f"{STATES} {RUNNING}"),
    Row(
        "python/stoker/_conditionals/*",
        python="conditionals definition/test_definition.py",
    ),
    Row("python/stoker/auto_aug/*", python="auto_aug"),
    Row("python/stoker/transforms/* tools/make_transforms_table.py", python="transforms"),
    Row("python/stoker/frameworks/_collate.py", python="transforms/test_compose.py"),
    Row(
        "python/stoker/compat/*",
        python="compat/test_compat_names.py compat",
    ),
    Row(
        "python/stoker/run.py",
        python="compat/test_compat.py compat/test_compat_check.py compat/test_moving_over.py",
    ),
    Row(
        "python/stoker/launcher.py",
        python="frameworks/test_launcher.py frameworks/test_torchrun.py",
    ),
    Row("python/stoker/_devices.py", python=DEVICES),
    Row(
        "python/stoker/*torch_proxy.py",
        python="frameworks/test_torch_proxy.py examples/test_guides.py",
    ),
    Row(
        "python/stoker/*torch.py",
        python=f"""
        frameworks/test_torch.py frameworks/test_torch_epochs.py frameworks/test_torchrun.py
        frameworks/test_training.py frameworks/test_peer_epochs.py {CONTRACT}
        definition/test_graphs.py
        """,
    ),
    Row(
        "python/stoker/*jax/*",
        python=f"frameworks/test_jax.py frameworks/test_jax_gpu.py {CONTRACT}",
    ),
    Row("python/stoker/*tensorflow*", python=f"frameworks/test_tensorflow.py {CONTRACT}"),
    Row("python/stoker/*mxnet.py", python=f"frameworks/test_mxnet.py {CONTRACT}"),
    Row("python/stoker/*numpy.py", python=f"frameworks/test_numpy.py {CONTRACT}"),
    Row("python/stoker/frameworks/*", python="frameworks/test_epochs.py frameworks"),
    Row("python/stoker/README.md", python="tools/test_python_imports.py"),
    Row("python/*", python=f"tools/test_python_imports.py {DEFINING} {RUNNING}"),
    # Tests, and what they share.
    Row("tests/*/test_*.py", python=ITSELF),
    Row("tests/oracles/*", python=OPERATOR),
    Row("tests/readers/* tests/conformance_readers/*", python="conformance_readers"),
    Row("tests/run_operators/*", "run"),
    Row("tests/torture/python/*", python="torture/python/test_torture.py"),
    Row("tests/torture/*", "torture"),
    Row("tests/new_codecs/*", python="new_operators/test_new_operator.py"),
    Row("tests/compat/scripts/*", python="compat/test_compat.py compat/test_compat_check.py"),
    Row("tests/defects/*", python="tools/test_defects.py"),
    Row("tests/compat/peer_faults.py", python="compat/test_peer_faults.py"),
    Row("tests/compat/peer_*.py", python="compat/test_peer_operators.py"),
    *(Row(f"tests/{folder}/*", python=folder) for folder in SHARING.split()),
    Row(
        "tests/golden/*",
        python="""
        conformance/test_random.py conformance/test_recorded.py conformance/test_saved.py
        compat/test_compat.py new_operators/test_new_operator.py
        compat/test_peer_operators.py compat/test_peer_faults.py frameworks/test_peer_epochs.py
        """,
    ),
    Row(
        "tests/*.py", python=f"{RUNNING} devices/test_device_batches.py conformance/test_values.py"
    ),
    # Programs around the library.
    Row("examples/*.cc", python="examples/test_cpp_example.py"),
    Row("examples/graphs/*", python="definition/test_graphs.py"),
    Row("examples/guide_data.py", python="stores/test_detection_inputs.py examples/test_guides.py"),
    Row("examples/store_writers.py", python="stores conformance_readers examples/test_guides.py"),
    Row("examples/*", python="examples definition/test_graphs.py"),
    Row("bench/compare/*", python="bench/test_compare_table.py"),
    Row("bench/cliff* bench/run.py", python="bench/test_cliffs.py"),
    Row("bench/*gpu* tools/gpu_check/*", python="tools/test_gpu_check.py"),
    Row("fuzz/*", "fuzz"),
    Row("bench/*"),
    Row(
        "tools/record_peer_* tools/peer_*",
        python="""
        compat/test_peer_operators.py compat/test_peer_faults.py compat/test_compat.py
        frameworks/test_peer_epochs.py
        """,
    ),
    Row(
        "tools/make_* tools/stage.py",
        python="definition/test_definition.py compat/test_moving_over.py new_operators",
    ),
    Row(
        "tools/wheel/* tools/*site* tools/mkdocs.yml tools/*.js",
        python="tools/test_first_contact.py",
    ),
    Row("tools/measure.py tools/times.py", python="tools/test_measure.py"),
    Row("tools/check_operators.py", python="new_operators/test_operator_slips.py"),
    Row("tools/*", python="tools"),
    # Words.
    Row("docs/guide/moving-over.md", python="compat/test_moving_over.py examples/test_guides.py"),
    Row("docs/guide/jax.md", python="examples/test_guides.py frameworks/test_jax.py"),
    Row("docs/guide/tensorflow.md", python="examples/test_guides.py frameworks/test_tensorflow.py"),
    Row("docs/guide/mxnet.md", python="frameworks/test_mxnet.py"),
    Row("docs/guide/* README.md", python="examples/test_guides.py"),
    Row("CONTRIBUTING.md", python="tools/test_recipes.py"),
    Row("docs/* *.md LICENSE .ci/* .clang-* .gitignore .pre-commit-config.yaml"),
]

# For all other files, such as CMakeLists.txt: something of everything.
WIDE = Row(
    "*",
    PROGRAMS,
    """
    running/test_running.py running/test_batches.py conformance/test_values.py
    conformance/test_describe.py pipelines/test_order.py examples/test_cpp_example.py
    new_operators/test_new_operator.py frameworks/test_numpy.py
    """,
)

# What Python tests need built besides the package.
TARGETS = {
    "examples/test_cpp_example.py": "example_resnet50",
    "new_operators/test_new_operator.py": "new_operators",
}

# Python tests that need JAX, TensorFlow or MXNet, or test less without these.
FRAMEWORKS = """
    frameworks/test_contract.py frameworks/test_jax.py frameworks/test_jax_gpu.py
    frameworks/test_mxnet.py frameworks/test_tensorflow.py frameworks/test_training.py
"""

# Seconds of work on one core, for a test that `tools/times.py keep` has not kept yet.
USUAL_SECONDS = 2
OPERATOR_SECONDS = 30  # all conformance tests of one operator
KEPT = json.loads((Path(__file__).parent / "ci_times.json").read_text(encoding="utf-8"))


def row_of(path: str) -> Row:
    fits = (row for row in ROWS if any(fnmatchcase(path, p) for p in row.files.split()))
    return next(fits, WIDE)


def seconds(test: str) -> float:
    """What a file of Python tests or a C++ test program takes."""
    return KEPT["tests"].get(test, USUAL_SECONDS)
