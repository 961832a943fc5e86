"""Install packages into an environment by uv or pip, show the progress, and explain a failure.
uv is several times as fast as pip. It is itself a package, which pip installs into the environment
first. If there is no build of uv for this machine, or uv fails, pip installs the packages.
"""

import ast
import contextlib
import os
from pathlib import Path

from helpers.course import checkout
from helpers.course.install_failures import LOG_NAME, NO_NETWORK, InstallFailed, explain
from helpers.course.shown_process import run_shown
from helpers.course.terminal import DISK_FULL, CommandRefused, say

UV = "uv==0.13.9"

# pip's name of a setting -> (uv's variable for it, what uv expects between several values)
UV_NAMES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "constraint": ("UV_CONSTRAINT", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "client-cert": ("SSL_CLIENT_CERT", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "proxy": ("ALL_PROXY", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "no-index": ("UV_NO_INDEX", " "),
    "keyring-provider": ("UV_KEYRING_PROVIDER", " "),
}
# Sections of pip's configuration that count for `pip install`; the later ones win.
PIP_SECTIONS = ("global", "install", ":env:")


class Installer:
    """Installs packages into one environment.

    Parameters
    ----------
    folder : Path
        The environment that packages are installed into. Its Python has pip.
    lock : int or None
        A file descriptor that the started programs inherit, so that the lock on it ends with them.
    """

    def __init__(self, folder: Path, lock: int | None = None):
        """Prepare to install; the class explains the parameters."""
        self.folder = folder
        self.python = folder / checkout.PYTHON_INSIDE
        self.log = folder / LOG_NAME
        self._lock = lock

    def install(self, *arguments: str) -> str:
        """Install packages; return the program that installed them, "uv" or "pip".

        `arguments` are arguments of `pip install`, such as "numpy" or "-r", "requirements.txt".

        Raises
        ------
        CommandRefused
            One sentence that explains why no program could install them.
        """
        wanted = wanted_installer()
        failure = None
        if wanted != "pip":
            try:
                self._install_with_uv(arguments)
                return "uv"
            except InstallFailed as failed:
                failure = failed
            if failure.why == DISK_FULL or wanted == "uv":  # pip would fail, or was not asked for
                raise CommandRefused(failure.why)
            if failure.why != NO_NETWORK:
                say("      uv could not do it, so pip tries.")
        try:
            self._install_with_pip(arguments)
        except InstallFailed as failed:
            raise CommandRefused(failed.why) from None
        return "pip"

    def _install_with_uv(self, arguments: tuple[str, ...]) -> None:
        """Install packages by uv; if there is no network, from uv's cache. Raise InstallFailed.

        `arguments` are those of `install`.
        """
        uv = self._find_uv()
        command = [uv, "pip", "install", "--python", str(self.python)]
        # By default uv uses the first index that has the package. pip takes the best version of all
        # indexes, and so does uv with this option.
        command += ["--index-strategy", "unsafe-best-match", *arguments]
        variables = self._uv_variables()
        try:
            self._run(command, variables)
        except InstallFailed as failed:
            if failed.why != NO_NETWORK:
                raise
            try:
                self._run([*command, "--offline"], variables)  # all may be in uv's cache
            except InstallFailed:
                raise failed from None  # the missing network is what the user can change

    def _find_uv(self) -> str:
        """Return the path of the program uv, and install it if needed.

        The environment that is being made may have uv, or the present .venv. Raise InstallFailed if
        uv cannot be installed, or does not start.
        """
        program = checkout.PYTHON_INSIDE.with_name("uv.exe" if os.name == "nt" else "uv")
        for folder in (self.folder, checkout.VENV):
            uv_path = folder / program
            answer = checkout.ask([uv_path, "--version"]) or ""  # "uv 0.13.9 (…)"
            if answer.split()[1:2] == [UV.partition("==")[2]]:
                return str(uv_path)
        self._install_with_pip((UV,), retries="1")
        uv_path = self.folder / program
        if checkout.ask([uv_path, "--version"]) is None:
            raise InstallFailed("uv does not start on this machine.", known=True)
        return str(uv_path)

    def _install_with_pip(self, arguments: tuple[str, ...], retries: str = "") -> None:
        """Install packages by pip, with the arguments of `install`. Raise InstallFailed.

        `retries` is how often pip tries a connection again; "" for pip's own setting.
        """
        variables = pip_variables()
        if retries:
            variables.setdefault("PIP_RETRIES", retries)
        command = [str(self.python), "-m", "pip", "install", "--no-input"]
        self._run([*command, "--disable-pip-version-check", *arguments], variables)

    def _uv_variables(self) -> dict[str, str]:
        """Return the environment variables for uv, which include the user's settings of pip.

        uv does not read pip's settings. `pip config list` prints those of variables and files.
        """
        variables = pip_variables()
        config = checkout.ask([self.python, "-m", "pip", "config", "list"]) or ""
        for name, value in pip_settings(config).items():
            uv_name, separator = UV_NAMES[name]
            variables.setdefault(uv_name, separator.join(value.split()))
        return variables

    def _run(self, command: list[str], variables: dict[str, str]) -> None:
        """Run an installer, write its output to the log, and raise InstallFailed if it fails."""
        code, output = run_shown(command, variables, self.log, self._lock)
        if code:
            raise explain(output)


def wanted_installer() -> str:
    """Return the value of the variable COURSE_INSTALLER: "uv", "pip", or "" for either.

    Raise CommandRefused for any other value.
    """
    wanted = os.environ.get("COURSE_INSTALLER", "")
    if wanted not in ("", "pip", "uv"):
        raise CommandRefused(f"COURSE_INSTALLER is {wanted!r}, but it must be pip or uv.")
    return wanted


def pip_variables() -> dict[str, str]:
    """Return the environment variables for pip."""
    variables = checkout.start_environment()
    # Some machines set PIP_USER for everybody. With it, pip fails in a virtual environment.
    variables["PIP_USER"] = "0"
    return variables


def pip_settings(listed: str) -> dict[str, str]:
    """Return pip's name of a setting -> value, for the settings in `UV_NAMES`.

    `listed` is what `pip config list` printed: lines such as `global.index-url='https://…'`.
    """
    settings_by_section = {section: {} for section in PIP_SECTIONS}
    for line in listed.splitlines():
        key, _, quoted = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in settings_by_section and name in UV_NAMES:
            with contextlib.suppress(ValueError, SyntaxError):  # a line that is no setting
                settings_by_section[section][name] = str(ast.literal_eval(quoted))
    settings = {}
    for section in PIP_SECTIONS:
        settings |= settings_by_section[section]
    return settings
