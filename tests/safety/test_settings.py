"""What a watched function sets for the whole process is put back, and that is said."""

import decimal
import gc
import locale
import logging
import os
import signal
import socket
import sys
import types
import warnings

import pytest

import helpers
from helpers.safety import imported
from helpers.safety.interpreter_state import theirs, whole
from helpers.safety.kept_state import KEPT
from helpers.safety.settings import SETTINGS

# Modules are taken from under everybody here: no worker of pytest-xdist may meet that.
pytestmark = pytest.mark.own_process


def _context():
    decimal.getcontext().prec = 7
    decimal.getcontext().traps[decimal.Inexact] = True


def _of(package, act):
    return lambda: act(pytest.importorskip(package))


# Each setting, and a learner's function that sets it.
CHANGES = {
    "the locale": lambda: locale.setlocale(locale.LC_ALL, _another_locale()),
    "the working folder": lambda: os.chdir("/"),
    "the rights of new files": lambda: os.umask(0o177),
    "what the collector leaves alone": lambda: (
        gc.unfreeze() if gc.get_freeze_count() else gc.freeze()
    ),
    "how many digits an int may have as text": lambda: sys.set_int_max_str_digits(0),
    "what logging passes on": lambda: logging.disable(logging.ERROR),
    "the decimal context": _context,
    "how long sockets wait": lambda: socket.setdefaulttimeout(3),
    "the root logger": lambda: logging.basicConfig(level=10, force=True),
    "how signals are handled": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "NumPy's handling of errors": _of("numpy", lambda np: np.seterr(all="raise")),
    "how NumPy prints": _of("numpy", lambda np: np.set_printoptions(precision=1)),
    "torch's default dtype": _of("torch", lambda t: t.set_default_dtype(t.float64)),
    "torch's default device": _of("torch", lambda t: t.set_default_device("meta")),
    "torch's deterministic algorithms": _of(
        "torch", lambda t: t.use_deterministic_algorithms(True)
    ),
    "torch's number of threads": _of("torch", lambda t: t.set_num_threads(t.get_num_threads() + 1)),
    "the precision of torch's products of matrices": _of(
        "torch", lambda t: t.set_float32_matmul_precision("medium")
    ),
    "torch's search for anomalies": _of("torch", lambda t: t.autograd.set_detect_anomaly(True)),
    "torch's autocast": _of("torch", lambda t: t.set_autocast_enabled("cpu", True)),
    "what autograd does with what it saves": _of(
        "torch", lambda t: t.autograd.graph.save_on_cpu().__enter__()
    ),
    "torch's level of forward gradients": _of(
        "torch", lambda t: t.autograd.forward_ad.enter_dual_level()
    ),
    "whether torch repeats its warnings": _of("torch", lambda t: t.set_warn_always(True)),
    "whether torch uses oneDNN": _of("torch", lambda t: t._C._set_mkldnn_enabled(False)),
    "Dynamo's configuration": _of(
        "torch", lambda t: setattr(t._dynamo.config, "recompile_limit", 1)
    ),
    "how torch prints": _of("torch", lambda t: t.set_printoptions(precision=1)),
    "whether tf.functions run eagerly": _of(
        "tensorflow", lambda tf: tf.config.run_functions_eagerly(True)
    ),
    "TensorFlow's optimiser and placement": _of(
        "tensorflow", lambda tf: tf.config.optimizer.set_experimental_options({"remapping": False})
    ),
    "TensorFlow's device and name scope": _of(
        "tensorflow", lambda tf: [tf.device("/GPU:7").__enter__(), tf.name_scope("z").__enter__()]
    ),
    "TensorFlow's strategy": _of(
        "tensorflow", lambda tf: tf.distribute.OneDeviceStrategy("/cpu:0").scope().__enter__()
    ),
    "what TensorFlow leaves out of tracebacks": _of(
        "tensorflow", lambda tf: tf.debugging.disable_traceback_filtering()
    ),
    "what TensorFlow logs": _of("tensorflow", lambda tf: tf.get_logger().setLevel(10)),
    "what AutoGraph logs": _of("tensorflow", lambda tf: tf.autograph.set_verbosity(1)),
    "Keras' numbers": _of("keras", lambda keras: keras.config.set_floatx("float16")),
    "Keras' dtype policy": _of("keras", lambda keras: keras.config.set_dtype_policy("float64")),
}


def _another_locale() -> str:
    now = locale.setlocale(locale.LC_ALL)
    return "C.UTF-8" if now == "C" else "C"


def test_each_setting_has_a_function_that_sets_it():
    assert [each.name for each in SETTINGS] == list(CHANGES)
    assert {each.name for each in SETTINGS} == {kept.name for kept in KEPT if kept.told}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
@pytest.mark.parametrize("error", [None, KeyError])
def test_a_setting_is_put_back_and_said(setting, error, capsys):
    _import(setting)
    if setting.name == "the rights of new files" and not os.path.exists("/proc/self/status"):
        pytest.skip("this system tells the mask of new files only to who sets it")
    seen = []

    @whole
    def verb():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CHANGES[setting.name]()
        seen.append(setting.read())
        if error:
            raise error

    before = setting.read()
    if error is None:
        verb()
    else:
        with pytest.raises(error):
            verb()
    assert before is not None and seen[0] != before == setting.read()
    assert f"The call changed {setting.name}: that is put back" in capsys.readouterr().err
    whole(lambda: 1)()
    assert not capsys.readouterr().err


def _import(setting):
    """Import what a setting is read of, as a cell before would have."""
    if setting.where:
        pytest.importorskip(setting.where.partition(".")[0])
    if "policy" in setting.name:
        pytest.importorskip("keras").config.set_dtype_policy("float32")


def test_mode_of_a_default_device_goes_and_comes_with_it():
    torch = pytest.importorskip("torch")
    torch.set_default_device("meta")
    try:
        modes = torch.overrides._get_current_function_mode_stack()
        whole(lambda: torch.set_default_device(None))()
        assert torch.empty(1).device.type == "meta"
        now = torch.overrides._get_current_function_mode_stack()
        assert len(now) == len(modes) and now[-1] is modes[-1]
    finally:
        torch.set_default_device(None)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no such timer")
def test_alarm_that_a_function_sets_never_rings(capsys):
    def sets():
        signal.setitimer(signal.ITIMER_REAL, 1000)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

    try:
        whole(sets)()
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert signal.SIGUSR1 not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        signal.setitimer(signal.ITIMER_REAL, 1000)
        whole(lambda: 1)()
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
        capsys.readouterr()
        whole(lambda: signal.setitimer(signal.ITIMER_REAL, 0))()  # as one that has rung
        assert not capsys.readouterr().err
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])


def test_folder_that_is_gone_stops_no_verb(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert whole(lambda: 3)() == 3


# -- what is imported ------------------------------------------------------------------------------


class Hostile(dict):
    """A dict of modules that answers nothing."""

    def _refuse(self, *given):
        raise ZeroDivisionError("modules")

    __getitem__ = get = __iter__ = __contains__ = values = items = copy = keys = _refuse


def _put_another():
    sys.modules = Hostile(sys.modules)


def _empty_lists():
    sys.path[:], sys.meta_path[:], sys.path_hooks[:] = [], [], []


@pytest.mark.parametrize(
    "spoil",
    [
        _put_another,
        _empty_lists,
        lambda: delattr(sys, "modules"),
        lambda: setattr(sys, "modules", None),
        lambda: sys.modules.clear(),
        lambda: sys.modules.update(warnings=None, json=5),
        lambda: setattr(sys, "path", None),
    ],
)
@pytest.mark.parametrize("kind", [whole, "theirs"])
def test_what_finds_modules_is_back(spoil, kind):
    held = dict(sys.modules), [list(getattr(sys, name)) for name in imported._LISTS]
    try:
        if kind is whole:
            whole(spoil)()
        else:
            with theirs():
                spoil()
        assert sys.modules is imported.MODULES
        assert [getattr(sys, name) for name in imported._LISTS] == held[1]
        assert sys.modules["warnings"] is warnings and sys.modules["json"] is held[0]["json"]
    finally:
        sys.modules = imported.MODULES
        sys.modules.update(held[0])
        for name, was in zip(imported._LISTS, held[1], strict=True):
            setattr(sys, name, was)


def test_modules_and_places_that_a_function_adds_stay_and_its_own_may_go():
    sys.modules["mine"] = types.ModuleType("mine")
    sys.modules["mine"].__file__ = "/nowhere/mine.py"

    def reloads():
        del sys.modules["mine"]
        sys.modules["new"] = types.ModuleType("new")
        sys.path.append("/nowhere")

    try:
        whole(reloads)()
        assert "mine" not in sys.modules and "new" in sys.modules and sys.path[-1] == "/nowhere"
    finally:
        sys.modules.pop("new")
        sys.path.remove("/nowhere")


def test_verbs_work_where_a_cell_has_put_another_dict_in_the_place_of_the_modules():
    def double(x):
        return 2 * x

    found = vars(helpers).pop("watch_frames", None)
    sys.modules = hostile = Hostile(sys.modules)
    try:
        words = [repr(helpers.watch_frames(double, 3)), repr(helpers.show_bindings(double))]
        assert sys.modules is hostile
    finally:
        sys.modules = imported.MODULES
        vars(helpers).update({"watch_frames": found} if found else {})
    assert "double" in words[0] and "double" in words[1]


def test_filters_of_a_framework_that_is_imported_meanwhile_stay(monkeypatch):
    monkeypatch.delitem(imported.MODULES, "torch", raising=False)
    before = list(warnings.filters)

    def first_import():
        imported.MODULES["torch"] = types.ModuleType("torch")
        warnings.filterwarnings("ignore", "set by the library")

    try:
        whole(first_import)()
        assert len(warnings.filters) == len(before) + 1
        whole(lambda: warnings.simplefilter("error"))()
        assert len(warnings.filters) == len(before) + 1
    finally:
        imported.MODULES.pop("torch", None)
        warnings.filters[:] = before
        warnings._filters_mutated()
