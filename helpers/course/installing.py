"""uv or pip -> packages in an environment, with progress that one sees and a reason for a failure.

uv is a package of the index like any other, and several times as fast as pip. It is put into the
new environment first. pip takes over where uv has no build, or fails.
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

# What pip calls a setting; what uv calls it, and what uv puts between several values.
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

    def install(self, *words: str) -> str:
        """Install what the words name, as in `pip install`; return "uv" or "pip".

        Raises
        ------
        CommandRefused
            One sentence that explains why neither could.
        """
        wanted = wanted_installer()
        failure = None
        if wanted != "pip":
            try:
                self._install_with_uv(words)
                return "uv"
            except InstallFailed as failed:
                failure = failed
            if failure.why == DISK_FULL or wanted == "uv":
                raise CommandRefused(failure.why)
            if failure.why != NO_NETWORK:
                say("      uv could not do it, so pip tries.")
        try:
            self._install_with_pip(words)
        except InstallFailed as failed:
            raise CommandRefused(failed.why) from None
        return "pip"

    def _install_with_uv(self, words: tuple[str, ...]) -> None:
        """Install what the words name by uv, without a network from its cache; InstallFailed."""
        uv = self._uv()
        command = [uv, "pip", "install", "--python", str(self.python)]
        # As with pip, the best version of all indexes counts, not the first index with any version.
        command += ["--index-strategy", "unsafe-best-match", *words]
        variables = self._uv_variables()
        try:
            self._run(command, variables)
        except InstallFailed as failed:
            if failed.why != NO_NETWORK:
                raise
            try:
                self._run([*command, "--offline"], variables)  # all may be in uv's cache
            except InstallFailed:
                raise failed from None  # the first reason is the one to mend

    def _uv(self) -> str:
        """Return uv: that of the environment, else that of the one before; else it is installed."""
        for folder in (self.folder, checkout.VENV):
            place = folder / checkout.PYTHON_INSIDE.with_name("uv.exe" if os.name == "nt" else "uv")
            answer = checkout.ask([place, "--version"]) or ""
            if answer.split()[1:2] == [UV.partition("==")[2]]:
                return str(place)
        self._install_with_pip((UV,), retries="1")
        place = self.python.with_name("uv.exe" if os.name == "nt" else "uv")
        if checkout.ask([place, "--version"]) is None:
            raise InstallFailed("uv does not start on this machine.", known=True)
        return str(place)

    def _install_with_pip(self, words: tuple[str, ...], retries: str = "") -> None:
        """Install what the words name by pip; InstallFailed. `retries` is pip's setting, or ""."""
        variables = pip_variables()
        if retries:
            variables.setdefault("PIP_RETRIES", retries)
        command = [str(self.python), "-m", "pip", "install", "--no-input"]
        self._run([*command, "--disable-pip-version-check", *words], variables)

    def _uv_variables(self) -> dict[str, str]:
        """Return the variables for uv: pip's settings, from its files too, under uv's names."""
        variables = pip_variables()
        listed = checkout.ask([self.python, "-m", "pip", "config", "list"]) or ""
        for name, value in pip_settings(listed).items():
            uv_name, between = UV_NAMES[name]
            variables.setdefault(uv_name, between.join(value.split()))
        return variables

    def _run(self, command: list[str], variables: dict[str, str]) -> None:
        """Run an installer, its output in the log; raise InstallFailed with an explanation."""
        code, output = run_shown(command, variables, self.log, self._lock)
        if code:
            raise explain(output)


def wanted_installer() -> str:
    """Return what the variable COURSE_INSTALLER asks for: "uv", "pip", or "" for either.

    Raise CommandRefused for another word.
    """
    wanted = os.environ.get("COURSE_INSTALLER", "")
    if wanted not in ("", "pip", "uv"):
        raise CommandRefused(f"COURSE_INSTALLER is {wanted!r}, but it must be pip or uv.")
    return wanted


def pip_variables() -> dict[str, str]:
    """Return the variables for pip."""
    variables = checkout.start_environment()
    variables["PIP_USER"] = "0"  # some machines set it for all; in an environment it is an error
    return variables


def pip_settings(listed: str) -> dict[str, str]:
    """Return the settings that `pip config list` printed and that uv knows, by pip's names."""
    found = {section: {} for section in PIP_SECTIONS}
    for line in listed.splitlines():
        key, _, quoted = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in found and name in UV_NAMES:
            with contextlib.suppress(ValueError, SyntaxError):
                found[section][name] = str(ast.literal_eval(quoted))
    return found["global"] | found["install"] | found[":env:"]
