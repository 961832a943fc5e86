"""How notebooks become tests: nbval's settings that cannot be in pyproject.toml.

This file is at the root, not in tests/, because pytest reads a conftest.py only for the files
beside and below it, and notebooks/ is beside tests/.
"""

import contextlib
import os
import signal
from pathlib import Path

import pytest

with contextlib.suppress(ImportError):
    import triton  # noqa: F401  a torch with CUDA loads it; after TensorFlow that kills the process

with contextlib.suppress(ImportError):
    import hypothesis

    # A busy machine is no reason to fail.
    slow = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile("course", deadline=None, suppress_health_check=slow)
    hypothesis.settings.load_profile("course")

HERE = Path(__file__).parent

pytest_plugins = ["tests.own_folders", "tests.own_process", "tests.needs", "tests.measured"]
pytest_plugins += ["tools.reports.plugin"]

# Kernels inherit these. The first two silence TensorFlow, and only work when set before its import.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
# No test writes into a learner's record, whatever it runs, wherever.
os.environ["COURSE_RECORD"] = "off"
# Stored outputs show sets of strings in one order.
os.environ["PYTHONHASHSEED"] = "0"


def setup_like_jupyterlab(setup):
    """Wrap nbval's start of a kernel: file descriptors 1 and 2 are captured as in JupyterLab.

    ipykernel captures them unless it finds PYTEST_CURRENT_TEST; without this, what C code and child
    processes print is in the stored outputs and missing from the rerun. The kernel imports the
    helpers beside this file, whichever checkout was installed.
    """

    def setup_in_kernels_environment(self):
        folders = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("PYTEST_CURRENT_TEST", raising=False)
            patch.setenv("PYTHONPATH", os.pathsep.join(folders))
            setup(self)

    return setup_in_kernels_environment


def pytest_configure(config):
    """Give nbval the sanitiser by its absolute path, so that pytest works from any folder."""
    # A shell lets background jobs ignore Ctrl-C, and some tests press it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    option = config.option
    if not (getattr(option, "nbval", False) or getattr(option, "nbval_lax", False)):
        return
    from nbval import plugin

    if not option.nbval_sanitize_with:
        option.nbval_sanitize_with = str(HERE / "tests" / "nbval_sanitize.cfg")
    plugin.IPyNbFile.setup = setup_like_jupyterlab(plugin.IPyNbFile.setup)


def pytest_collection_modifyitems(config, items):
    """Leave tests marked `long` to `course.py test --all`; a test that is named by its id runs."""
    if os.environ.get("COURSE_SAMPLES") in ("all", "whole") or any(
        "::" in word for word in config.args
    ):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in set(long)]
