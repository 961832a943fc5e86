"""uv, pip and their settings, with scripts that stand in for both."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from helpers.course import checkout, install_failures, installing, shown_process, terminal
from helpers.course.installing import Installer

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")

VERSION = installing.UV.partition("==")[2]
PIP = """#!/bin/sh
case "$*" in
  *"config list"*) cat "{settings}";;
  *"pip install"*) echo "pip $*" >> "{calls}"; echo "$PIP_SAYS"; exit ${{PIP_CODE:-0}};;
esac
"""
UV = f"""#!/bin/sh
[ "$1" = --version ] && echo "uv {VERSION}" && exit
echo "uv $*" >> "{{calls}}"
env | grep -E '^(UV_|SSL_|ALL_PROXY)' | sort > "{{variables}}"
echo "$UV_SAYS"
exit ${{{{UV_CODE:-0}}}}
"""


class Machine:
    """An environment with stand-ins for its Python and its uv."""

    def __init__(self, folder):
        self.folder, self.settings = folder, folder / "settings"
        self.calls, self.variables = folder / "calls", folder / "variables"
        (folder / "bin").mkdir()
        self.settings.touch()
        self.write("python", PIP)
        self.write("uv", UV)

    def write(self, name, text):
        places = {name: getattr(self, name) for name in ("calls", "settings", "variables")}
        path = self.folder / "bin" / name
        path.write_text(text.format(**places))
        path.chmod(0o755)

    def install(self, *words):
        return Installer(self.folder).install(*words)

    def called(self):
        """Return which programs were called, in order, and whether uv was to use its cache."""
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        offline = [" offline" if "--offline" in line else "" for line in lines]
        return [line.split()[0] + more for line, more in zip(lines, offline, strict=True)]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "SSL_CERT", "COURSE_INSTALLER")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(checkout, "VENV", tmp_path / "no environment before")
    return Machine(tmp_path)


# -- settings --------------------------------------------------------------------------------------


def test_settings_of_pip_reach_uv_and_the_nearest_wins(machine):
    machine.settings.write_text(
        "global.index-url='https://global.example/simple'\n"
        "global.extra-index-url='https://one.example https://two.example'\n"
        "global.find-links='/wheels /more'\n"
        "global.constraint='/etc/limits.txt'\n"
        "global.cert='/etc/company.pem'\n"
        "global.trusted-host='one.example two.example'\n"
        "install.index-url='https://install.example/simple'\n"
        ":env:.index-url='https://env.example/simple'\n"
        "global.quiet='1'\n"
        "download.find-links='/elsewhere'\n"
    )
    assert machine.install("numpy") == "uv"
    assert machine.variables.read_text().splitlines() == [
        "SSL_CERT_FILE=/etc/company.pem",
        "UV_CONSTRAINT=/etc/limits.txt",
        "UV_DEFAULT_INDEX=https://env.example/simple",
        "UV_FIND_LINKS=/wheels,/more",
        "UV_INDEX=https://one.example https://two.example",
        "UV_INSECURE_HOST=one.example two.example",
    ]


def test_a_setting_of_uv_itself_counts_more(machine, monkeypatch):
    machine.settings.write_text("global.index-url='https://pip.example/simple'\n")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://uv.example/simple")
    machine.install("numpy")
    assert "UV_DEFAULT_INDEX=https://uv.example/simple" in machine.variables.read_text()


@pytest.mark.parametrize("listed", ["", "no equals sign", "global.cert=unquoted", "=", "a.b.c='d'"])
def test_settings_that_cannot_be_read_are_none(listed):
    assert installing.pip_settings(listed) == {}


# -- uv, and pip where uv does not do it -----------------------------------------------------------

OFFLINE = "error: Request failed after 3 retries: dns error: failed to lookup address"


@pytest.mark.parametrize(
    ("uv", "pip", "called"),
    [
        ((0, ""), (0, ""), ["uv"]),
        ((2, "panicked at src/main.rs"), (0, ""), ["uv", "pip"]),
        ((1, OFFLINE), (0, ""), ["uv", "uv offline", "pip"]),
        ((1, "invalid peer certificate: UnknownIssuer"), (0, ""), ["uv", "pip"]),
    ],
)
def test_pip_takes_over_where_uv_fails(machine, monkeypatch, uv, pip, called):
    for name, (code, says) in {"UV": uv, "PIP": pip}.items():
        monkeypatch.setenv(f"{name}_CODE", str(code))
        monkeypatch.setenv(f"{name}_SAYS", says)
    assert machine.install("numpy") == called[-1]
    assert machine.called() == called


def test_uv_is_installed_first(machine):
    (machine.folder / "bin" / "uv").unlink()
    machine.write(
        "python", PIP.replace('echo "$PIP_SAYS"', f"cp {machine.folder}/uv {machine.folder}/bin/uv")
    )
    machine.write("uv", UV)
    (machine.folder / "bin" / "uv").rename(machine.folder / "uv")
    assert machine.install("numpy") == "uv"
    assert machine.called() == ["pip", "uv"]
    assert machine.calls.read_text().splitlines()[0].endswith(installing.UV)


def test_where_uv_has_no_build_pip_does_it_all(machine):
    (machine.folder / "bin" / "uv").unlink()
    says = "No matching distribution found for uv"
    missing = f'#!/bin/sh\ncase "$*" in *{installing.UV}) echo "{says}"; exit 1;; esac'
    machine.write("python", PIP.replace("#!/bin/sh", missing))
    assert machine.install("numpy") == "pip"


def test_who_wants_pip_gets_pip(machine, monkeypatch, refused):
    monkeypatch.setenv("COURSE_INSTALLER", "pip")
    assert machine.install("numpy") == "pip" and machine.called() == ["pip"]
    monkeypatch.setenv("COURSE_INSTALLER", "conda")
    refused(terminal.CommandRefused, "'conda'.*pip.*uv", machine.install, "numpy")


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        (OFFLINE, "No network"),
        ("Caused by: dns error", "No network"),
        ("failed to write: No space left on device (os error 28)", "disk is full"),
        ("invalid peer certificate: UnknownIssuer", "certificate"),
        ("Because tensorflow==2.21.0 has no wheels with a matching Python", "tensorflow==2.21.0"),
        ("ERROR: No matching distribution found for torch==2.13.0", "torch==2.13.0"),
    ],
)
def test_a_failure_is_explained(machine, monkeypatch, refused, says, sentence):
    for name in ("UV", "PIP"):
        monkeypatch.setenv(f"{name}_CODE", "1")
        monkeypatch.setenv(f"{name}_SAYS", says)
    refused(terminal.CommandRefused, sentence, machine.install, "numpy")


def test_what_nobody_can_explain_shows_the_end_of_the_log(machine, monkeypatch):
    for name in ("UV", "PIP"):
        monkeypatch.setenv(f"{name}_CODE", "1")
        monkeypatch.setenv(f"{name}_SAYS", "what only an expert reads")
    log_and_output = f"{install_failures.LOG_NAME}(?s:.*)\n  what only an expert reads$"
    with pytest.raises(terminal.CommandRefused, match=log_and_output):
        machine.install("numpy")
    assert "what only an expert reads" in (machine.folder / install_failures.LOG_NAME).read_text()


# -- progress, and Ctrl-C --------------------------------------------------------------------------

SLOW = """#!/bin/sh
[ "$1" = --version ] && echo "uv {version}" && exit
for step in 1 2 3 4 5 6 7 8; do echo "Downloading part $step"; sleep 0.2; done
"""


def test_in_a_pipe_a_line_comes_every_few_seconds(machine, monkeypatch, capsys):
    monkeypatch.setattr(shown_process, "QUIET_SECONDS", 0.3)
    machine.write("uv", SLOW.replace("{version}", VERSION))
    machine.install("numpy")
    lines = capsys.readouterr().out.splitlines()
    assert 2 <= len(lines) <= 8 and all(" s  Downloading part " in line for line in lines)


SHOWN = """
import sys
from pathlib import Path
sys.path.insert(0, {repo!r})
from helpers.course import shown_process
code, output = shown_process.run_shown(["sh", "-c", "test -t 1 && printf '50%%\\\\r100%%\\\\n'"],
    dict(PATH="/usr/bin:/bin"), Path({log!r}), None)
assert code == 0 and output == "50%\\n100%\\n", (code, output)
"""


def test_on_a_terminal_the_installer_draws_its_own_bar(tmp_path):
    ours, theirs = os.openpty()
    log = tmp_path / "log"
    code = SHOWN.format(repo=str(Path(installing.__file__).parents[2]), log=str(log))
    done = subprocess.run([sys.executable, "-c", code], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    assert done.returncode == 0, done.stderr.decode()
    assert b"50%\r100%" in os.read(ours, 1000) and b"100%" in log.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_ends_the_installer_too(machine, number):
    alive = machine.folder / "alive"
    machine.write(
        "uv",
        f'#!/bin/sh\n[ "$1" = --version ] && echo "uv {VERSION}" && exit\n'
        f'while sleep 0.05; do echo x >> "{alive}"; done\n',
    )

    def press():
        while not alive.exists():
            time.sleep(0.05)
        os.kill(os.getpid(), number)

    threading.Thread(target=press, daemon=True).start()
    with terminal.stopping_signals(), pytest.raises(KeyboardInterrupt):
        machine.install("numpy")
    time.sleep(0.2)
    size = alive.stat().st_size
    time.sleep(0.3)
    assert alive.stat().st_size == size, "the installer still runs"
