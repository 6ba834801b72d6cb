# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which tests a changed file concerns, and how long they take: the table of check.py.

tests/tools/test_check.py sees to it that every folder of sources has a row, that every test is in a
row, and that no row takes more than three minutes.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

# C++ test programs, without "stoker_" before and "_test" behind: one for each of these folders of
# src/, and some more.
FOLDERS = "base memory device batch io stores codec kernels op graph run"
PROGRAMS = f"{FOLDERS} operators cuda nvjpeg torture fuzz"

# Words that stand for Python tests in a row.
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
FEEDS = """
    pipelines/test_feed_input.py pipelines/test_external_source.py pipelines/test_source_info.py
    pipelines/test_external_source_errors.py pipelines/test_external_source_state.py
    pipelines/test_external_source_process.py pipelines/test_external_source_parallel.py
    pipelines/test_external_source_cycles.py pipelines/test_external_source_orphans.py
    pipelines/test_external_source_interrupts.py
"""
STATES = "pipelines/test_resume.py faults/test_damaged_states.py conformance/test_saved.py"
DEVICES = """
    test_devices.py test_several_devices.py test_device_batches.py pipelines/test_mixed.py gpu
    conformance/test_gpu.py conformance/test_gpu_faults.py
"""
DEFINING = """
    test_definition.py test_arithmetic.py test_peer_arithmetic.py test_classes.py test_graphs.py
    pipelines/test_repeating_inputs.py pipelines/test_outside.py
    test_optional_outputs.py conformance/test_describe.py
    test_moving_over.py conformance/test_arguments.py conformance/test_saved.py test_compat.py
"""
RUNNING = """
    test_running.py test_aliases.py test_styles.py test_settings.py test_setting_table.py
    test_batches.py faults pipelines
"""
USER_CODE = """
    user_code/test_python_function.py user_code/test_functions_in_pipelines.py
    user_code/test_state.py user_code/test_function_processes.py user_code/test_frameworks.py
"""
STORES = "stores conformance_readers"
CONTRACT = "frameworks/test_contract.py test_guides.py"

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
        "pipelines/test_outputs.py faults/test_limits.py test_running.py",
    ),
    Row("src/device/*", "device cuda nvjpeg batch codec kernels op run", DEVICES),
    Row(
        "src/batch/*",
        "batch run",
        """
        test_batches.py test_device_batches.py pipelines/test_outputs.py
        pipelines/test_source_info.py
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
        conformance/test_values.py conformance/test_windows.py
        """,
    ),
    Row(
        "src/kernels/*",
        "kernels op operators run",
        f"pipelines/test_augment.py pipelines/test_frames.py {CONFORMANCE}",
    ),
    Row("src/op/*", "op operators run", f"{CONFORMANCE} test_new_operator.py"),
    Row(
        "src/ops/read/*",
        "operators op",
        f"""
        {OPERATOR} conformance_readers stores conformance/test_describe.py
        pipelines/test_reader.py
        pipelines/test_order.py
        pipelines/test_feed_input.py pipelines/test_source_info.py
        """,
    ),
    Row(
        "src/ops/batch/*",
        "operators op",
        f"""
        {OPERATOR} conformance/test_whole_batch_calls.py test_whole_batches.py
        conformance/test_describe.py test_new_operator.py
        """,
    ),
    Row(
        "src/ops/*",
        "operators op",
        f"{OPERATOR} conformance/test_describe.py conformance/test_fused.py test_new_operator.py",
    ),
    Row("src/graph/*", "graph run", DEFINING),
    Row("src/run/feed/*", "run", FEEDS),
    Row("src/run/device/*", "run", DEVICES),
    Row("src/run/*", "run", f"test_running.py {STATES} {RUNNING}"),
    Row("src/README.md"),
    Row("src/*", PROGRAMS, "test_cpp_example.py"),
    # The Python module and the package.
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
    Row("python/stoker/images.py python/stoker/sounds.py", python="formats cli/test_cli_show.py"),
    Row(
        "python/stoker/_messages.py python/stoker/_pipeline/stats.py",
        python=f"""
        test_first_errors.py test_first_calls.py test_first_names.py test_definition.py {RUNNING}
        """,
    ),
    Row("python/stoker/_cli/* python/stoker/__main__.py python/stoker/_show.py", python="cli"),
    Row("python/stoker/_command.py", python="cli test_compat.py test_compat_check.py"),
    Row("bindings/devices.cc bindings/exchange.cc bindings/dlpack.h", python=DEVICES),
    Row("bindings/*", python=f"test_device_batches.py test_definition.py {RUNNING}"),
    Row("python/stoker/_sources/*", python=FEEDS),
    Row(
        "python/stoker/_functions/* python/stoker/_graph/user_function.py",
        python=f"{USER_CODE} test_definition.py test_classes.py",
    ),
    Row("python/stoker/_describe/* python/stoker/_graph/*", python=DEFINING),
    Row("python/stoker/fn/* python/stoker/ops/*", python=DEFINING),
    Row("python/stoker/_pipeline/* python/stoker/_settings/*", python=f"{STATES} {RUNNING}"),
    Row(
        "python/stoker/_conditionals/*",
        python="test_conditionals.py test_conditional_names.py test_conditional_contents.py "
        "test_conditional_draws.py test_rewritten_code.py test_definition.py",
    ),
    Row("python/stoker/auto_aug/*", python="test_auto_aug.py"),
    Row(
        "python/stoker/compat/*",
        python="test_compat_tensors.py test_compat_pipelines.py test_compat_check.py "
        "test_compat.py",
    ),
    Row("python/stoker/run.py", python="test_compat.py test_compat_check.py test_moving_over.py"),
    Row("python/stoker/launcher.py", python="test_launcher.py frameworks/test_torchrun.py"),
    Row("python/stoker/_devices.py", python=DEVICES),
    Row(
        "python/stoker/*torch.py",
        python=f"""
        frameworks/test_torch.py frameworks/test_torch_epochs.py frameworks/test_torchrun.py
        frameworks/test_training.py frameworks/test_peer_epochs.py {CONTRACT} test_graphs.py
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
    Row("tests/test_*.py tests/*/test_*.py", python=ITSELF),
    Row("tests/oracles/*", python=OPERATOR),
    Row("tests/conformance/*", python=CONFORMANCE),
    Row("tests/readers/* tests/conformance_readers/*", python="conformance_readers"),
    Row("tests/stores/*", python="stores"),
    Row("tests/pipelines/*", python="pipelines"),
    Row("tests/frameworks/*", python="frameworks"),
    Row("tests/gpu/*", python="gpu"),
    Row("tests/new_operators/*", python="test_new_operator.py"),
    Row("tests/run_operators/*", "run"),
    Row("tests/torture/python/*", python="torture/python/test_torture.py"),
    Row("tests/torture/*", "torture"),
    Row("tests/scripts/*", python="test_compat.py test_compat_check.py"),
    Row("tests/peer_calls.py", python="test_peer_operators.py"),
    Row(
        "tests/golden/*",
        python="""
        conformance/test_random.py conformance/test_saved.py test_compat.py test_new_operator.py
        test_peer_operators.py frameworks/test_peer_epochs.py
        """,
    ),
    Row("tests/*.py", python=f"{RUNNING} test_device_batches.py conformance/test_values.py"),
    # Programs around the library.
    Row("examples/*.cc", python="test_cpp_example.py"),
    Row("examples/graphs/*", python="test_graphs.py"),
    Row("examples/guide_data.py", python="stores/test_detection_inputs.py test_guides.py"),
    Row("examples/store_writers.py", python="stores conformance_readers test_guides.py"),
    Row("examples/*", python="test_examples.py test_guides.py test_graphs.py test_cpp_example.py"),
    Row("bench/compare/*", python="test_compare_table.py"),
    Row("bench/cliff* bench/run.py", python="test_cliffs.py"),
    Row("bench/*gpu* tools/gpu_check/*", python="test_gpu_check.py"),
    Row("fuzz/*", "fuzz"),
    Row("bench/*"),
    Row(
        "tools/record_peer_* tools/peer_*",
        python="test_peer_operators.py test_compat.py frameworks/test_peer_epochs.py",
    ),
    Row(
        "tools/make_* tools/stage.py",
        python="test_definition.py test_moving_over.py test_new_operator.py",
    ),
    Row(
        "tools/wheel/* tools/*site* tools/mkdocs.yml tools/*.js",
        python="tools/test_first_contact.py",
    ),
    Row("tools/*", python="tools"),
    # Words.
    Row("docs/guide/moving-over.md", python="test_moving_over.py test_guides.py"),
    Row("docs/guide/jax.md", python="test_guides.py frameworks/test_jax.py"),
    Row("docs/guide/tensorflow.md", python="test_guides.py frameworks/test_tensorflow.py"),
    Row("docs/guide/mxnet.md", python="frameworks/test_mxnet.py"),
    Row("docs/guide/* README.md", python="test_guides.py"),
    Row("docs/* *.md LICENSE .ci/* .clang-* .gitignore .pre-commit-config.yaml"),
]

# For all other files, such as CMakeLists.txt: something of everything.
WIDE = Row(
    "*",
    PROGRAMS,
    """
    test_running.py test_batches.py conformance/test_values.py conformance/test_describe.py
    pipelines/test_order.py test_cpp_example.py test_new_operator.py frameworks/test_numpy.py
    """,
)

# What Python tests need built besides the package.
TARGETS = {
    "test_cpp_example.py": "example_resnet50",
    "test_new_operator.py": "new_operators",
}

# Python tests that need JAX, TensorFlow or MXNet, or test less without these.
FRAMEWORKS = """
    frameworks/test_contract.py frameworks/test_jax.py frameworks/test_jax_gpu.py
    frameworks/test_mxnet.py frameworks/test_tensorflow.py frameworks/test_training.py
"""

# Seconds of work on one core, for tests that take more than USUAL_SECONDS.
USUAL_SECONDS = 2
OPERATOR_SECONDS = 30  # all conformance tests of one operator
SECONDS = {
    "base": 1,
    "batch": 1,
    "graph": 1,
    "stores": 1,
    "kernels": 9,
    "nvjpeg": 12,
    "run": 90,
    "torture": 36,
    "conformance/test_arguments.py": 50,
    "conformance/test_whole_batch_calls.py": 6,
    "conformance/test_gpu.py": 20,
    "conformance/test_gpu_faults.py": 15,
    "conformance/test_random.py": 6,
    "conformance/test_same_bytes.py": 35,
    "conformance/test_saved.py": 10,
    "conformance/test_values.py": 8,
    "conformance/test_windows.py": 35,
    "conformance_readers/test_reader_damage.py": 15,
    "conformance_readers/test_reader_orders.py": 45,
    "faults/test_bad_samples.py": 6,
    "faults/test_limits.py": 5,
    "formats/test_corpus.py": 15,
    "formats/test_lossless_jpeg.py": 4,
    "cli/test_cli.py": 8,
    "cli/test_cli_bench.py": 8,
    "cli/test_cli_check.py": 4,
    "frameworks/test_contract.py": 30,
    "frameworks/test_epochs.py": 5,
    "frameworks/test_jax.py": 6,
    "frameworks/test_mxnet.py": 11,
    "frameworks/test_peer_epochs.py": 14,
    "frameworks/test_tensorflow.py": 18,
    "frameworks/test_torch.py": 14,
    "frameworks/test_torch_epochs.py": 9,
    "frameworks/test_torchrun.py": 28,
    "frameworks/test_training.py": 120,
    "pipelines/test_augment.py": 2,
    "pipelines/test_decode.py": 7,
    "pipelines/test_external_source_cycles.py": 1,
    "pipelines/test_external_source_orphans.py": 10,
    "pipelines/test_external_source_parallel.py": 12,
    "pipelines/test_external_source_interrupts.py": 16,
    "pipelines/test_external_source_process.py": 18,
    "pipelines/test_feed_input.py": 4,
    "pipelines/test_frames.py": 2,
    "pipelines/test_order.py": 7,
    "pipelines/test_outputs.py": 7,
    "pipelines/test_process.py": 17,
    "pipelines/test_repeating_inputs.py": 1,
    "pipelines/test_resume.py": 5,
    "pipelines/test_source_info.py": 1,
    "torture/python/test_torture.py": 100,
    "test_compat.py": 20,
    "test_compat_check.py": 13,
    "test_device_batches.py": 13,
    "test_examples.py": 10,
    "test_gpu_check.py": 5,
    "test_graphs.py": 5,
    "test_guides.py": 6,
    "test_new_operator.py": 5,
    "test_peer_operators.py": 15,
    "test_whole_batches.py": 8,
}


def row_of(path: str) -> Row:
    fits = (row for row in ROWS if any(fnmatchcase(path, p) for p in row.files.split()))
    return next(fits, WIDE)


def seconds(test: str) -> int:
    return SECONDS.get(test, USUAL_SECONDS)
