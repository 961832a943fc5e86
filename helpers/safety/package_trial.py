"""Find the broken packages of a Python: those with missing files, or whose import or op fails.

This file imports only the standard library, so that any CPython from 3.11 on can run it by its
path, for the Python that runs it:

    python package_trial.py torch numpy==2.4.6 ...

The last line that it prints is a JSON object, distribution -> what is wrong.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

if __package__:
    from .import_processes import ImportFailure, ImportTrial
    from .package_files import BUILDS, normalize_name
else:  # run by its path, where `helpers` may not be importable
    from import_processes import ImportFailure, ImportTrial
    from package_files import BUILDS, normalize_name

FILES_CHILD = Path(__file__).resolve().with_name("package_files.py")
SECONDS = 600  # how long one package may take to import
NOT_INSTALLED = "is not installed"
NO_START = "cannot be tried: this Python does not start"


class Trial(NamedTuple):
    """What was found out about the packages of a Python."""

    #: Distribution -> a clause on what is wrong with it.
    faults: dict[str, str]
    #: Distribution that cannot be imported -> the broken distribution that is the cause.
    consequences: dict[str, str]
    #: Distribution -> installed version.
    versions: dict[str, str]

    def fault(self, name: str) -> str:
        """Return a clause on what is wrong with a distribution, "" if nothing is.

        The cause may be in the distribution itself or in another one.
        """
        cause = self.consequences.get(name)
        if cause:
            return f"does not import, because {cause} is broken"
        return self.faults.get(name, "")


def find_faults(
    python: str | os.PathLike,
    names: Iterable[str],
    timeout: float = SECONDS,
    env: dict[str, str] | None = None,
) -> dict[str, str]:
    """Return distribution -> what is wrong with it; {} if nothing is.

    The files of every installed distribution are checked. The distributions `names` are also
    imported. One that fails only because another is broken is not in the result.

    Parameters
    ----------
    python
        The path of the Python to which the packages belong.
    names
        Distributions as requirements.txt names them, alone or pinned: "jupyterlab", "numpy==2.4.6".
    timeout
        Seconds after which the import of one package counts as hanging.
    env
        The variables of the children; those of this process if None.
    """
    return try_packages(python, names, timeout, env).faults


def try_packages(
    python: str | os.PathLike,
    names: Iterable[str],
    timeout: float = SECONDS,
    env: dict[str, str] | None = None,
    *,
    only_named: bool = False,
    done: Callable[[str], None] = lambda name: None,
) -> Trial:
    """Check the files of packages, then import the packages in child processes.

    The first four arguments are those of `find_faults`.

    Parameters
    ----------
    only_named
        Check only the files of `names`, not those of every distribution.
    done
        Is called with each name as soon as its import has ended, or if it is not imported.

    Returns
    -------
    Trial
        What is broken. If that Python does not start, each of `names` has the fault `NO_START`.
    """
    pins = dict(_parse_pin(name) for name in names)  # name -> the pinned version, or ""
    # TensorFlow prints only errors at this level. The environment may set another one.
    variables = {"TF_CPP_MIN_LOG_LEVEL": "3", **(os.environ if env is None else env)}
    # distribution -> a dict with the keys version, fault, modules, requires
    entries_by_name = _ask_for_files(python, variables, list(pins), only_named)
    if entries_by_name is None:
        return Trial(dict.fromkeys(pins, NO_START), {}, {})

    broken = {}  # distribution -> fault
    for name, entry in entries_by_name.items():
        if entry["fault"]:
            broken[name] = entry["fault"]
    modules = {}  # distribution to import -> its modules
    for name, version in pins.items():
        # Another build may be installed, which has another name: tensorflow-cpu for tensorflow.
        installed_name = name if name in entries_by_name else BUILDS.get(name)
        if installed_name in entries_by_name:
            fault = _fault_of_version(entries_by_name[installed_name]["version"], version)
            if fault:  # a fault of the files is kept, because it says more
                broken.setdefault(installed_name, fault)
        elif installed_name not in broken:
            broken[name] = NOT_INSTALLED
        if installed_name in entries_by_name and installed_name not in broken:
            modules[installed_name] = entries_by_name[installed_name]["modules"]
        else:  # a broken or missing distribution is not imported
            done(name)

    failures = ImportTrial(python, variables, timeout, done).run(modules)
    consequences = _find_consequences(failures, broken, entries_by_name)
    for name in failures.keys() - consequences.keys():
        broken[name] = failures[name].fault
    versions = {name: entry["version"] for name, entry in entries_by_name.items()}
    return Trial(broken, consequences, versions)


def _parse_pin(text: str) -> tuple[str, str]:
    """Return ("numpy", "2.4.6") for "numpy==2.4.6", and ("numpy", "") for "numpy"."""
    name, _, version = text.partition("==")
    return normalize_name(name.strip()), version.strip()


def _fault_of_version(installed: str, pinned: str) -> str:
    """Return a clause that says that the wrong version is installed; "" if the version is right.

    If `pinned` is "", any version is right.
    """
    if not pinned or _without_build(installed) == _without_build(pinned):
        return ""
    return f"version {installed} is installed instead of {pinned}"


def _without_build(version: str) -> str:
    """Return a version without the label of its build: "2.13.0+cpu" -> "2.13.0"."""
    return version.partition("+")[0]


def _ask_for_files(
    python: str | os.PathLike, variables: dict[str, str], names: list[str], only_named: bool
) -> dict | None:
    """Have the Python at the path `python` run `package_files.py`, and return its answer.

    The answer is distribution -> a dict with the keys version, fault, modules and requires. Return
    None if that Python does not start or prints no answer. `variables` is its environment.
    """
    command = [os.fspath(python), str(FILES_CHILD), json.dumps([names, only_named])]
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
            timeout=SECONDS,
            check=True,
        )
        # Code that Python runs at its start, such as sitecustomize, may print earlier lines.
        return json.loads(answer.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _find_consequences(
    failures: dict[str, ImportFailure], broken: dict[str, str], entries_by_name: dict[str, dict]
) -> dict[str, str]:
    """Return distribution -> the other distribution because of which its import failed.

    A distribution that is itself to blame for the failure is not in the result.

    Parameters
    ----------
    failures
        Distribution -> why its import failed.
    broken
        Distribution -> what is wrong with its files or its version.
    entries_by_name
        The answer of `_ask_for_files`.
    """
    requires = {name: entry["requires"] for name, entry in entries_by_name.items()}
    known_broken = [name for name in broken if name in entries_by_name]
    consequences = {}
    for name, failure in failures.items():
        needed = _list_requirements(name, requires)
        # The most certain causes come first. First, a broken distribution that this one requires.
        causes = [other for other in known_broken if other in needed]
        # Second, a broken distribution whose code was running when the import failed.
        causes += [other for other in known_broken if failure.is_in(entries_by_name[other])]
        # Third, a requirement whose import failed as well. If two distributions require each
        # other, neither is the cause.
        for other in failures:
            if other in needed and name not in _list_requirements(other, requires):
                causes.append(other)
        if causes:
            consequences[name] = causes[0]
    return consequences


def _list_requirements(name: str, requires: dict[str, list[str]]) -> set[str]:
    """Return all distributions that a distribution requires, directly or through others.

    `requires` is distribution -> its direct requirements. The distribution itself is left out.
    """
    needed = set()
    waiting = [name]
    while waiting:
        for other in requires.get(waiting.pop(), ()):
            if other not in needed:
                needed.add(other)
                waiting.append(other)
    return needed - {name}


def main(names: list[str]) -> None:
    """Try the packages `names` of the Python that runs this, and print their faults as JSON."""
    print(json.dumps(find_faults(sys.executable, names)))


if __name__ == "__main__":
    main(sys.argv[1:])
