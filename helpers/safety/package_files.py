"""Compare the files of installed distributions with their RECORD, and list the modules they offer.
pip writes a file RECORD for each distribution that it installs, with the path and the size of each
of its files. A file that is missing or has another size means that an install was interrupted.

This file imports only the standard library, so that any CPython from 3.11 on can run it by its
path, for the Python that runs it:

    python package_files.py '[["numpy", "torch"], false]'

The last line that it prints is a JSON object, distribution -> what was found. The second value on
the command line says whether to look only at the named distributions.
"""

import csv
import importlib.util
import json
import marshal
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

# distribution -> another build of it, which contains the same modules and may be installed instead
BUILDS = {"tensorflow": "tensorflow-cpu", "tensorflow-cpu": "tensorflow"}
# Distribution -> its modules, for one that is installed as a path to its source ("editable"), and
# whose RECORD lists no modules.
EDITABLE = {"whoruns": ("helpers",)}
# Folders that distributions install, but that nobody imports.
NOT_IMPORTED = {"tests", "test", "testing", "docs", "doc", "examples", "benchmarks"}
EXTENSIONS = (".py", ".so", ".pyd")
DIST_INFO = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._]*)-(?P<version>[^-]+)\.dist-info$")
REQUIRES = re.compile(r"Requires-Dist: *([A-Za-z0-9][A-Za-z0-9._-]*)")
ANSWERED = ("version", "fault", "modules", "requires")  # the fields that are printed


class Distribution(NamedTuple):
    """An installed distribution."""

    #: Its name as `normalize_name` spells it.
    name: str
    #: The installed version.
    version: str
    #: Its .dist-info folder; None for an older kind of install, which has none.
    folder: Path | None
    #: What is wrong with its files; "" if nothing is.
    fault: str
    #: The modules that it offers.
    modules: tuple[str, ...]
    #: The distributions that it requires.
    requires: list[str]


def look_at_files(names: list[str], only_named: bool) -> dict[str, dict]:
    """Check the files of the distributions that are installed for the Python that runs this.

    Return distribution -> a dict with the keys "version", "fault", "modules" and "requires", as in
    `Distribution`. With `only_named`, only the distributions `names` and their other builds are
    checked, else all.
    """
    wanted = None
    if only_named:
        wanted = {*names, *(BUILDS[name] for name in names if name in BUILDS)}
    # The folders of this environment. Only there must each distribution have a RECORD. Others come
    # from the system, whose packages often have none.
    own_folders = {os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib")}

    entries_by_name: dict[str, Distribution] = {}
    for folder in dict.fromkeys(map(os.path.realpath, sys.path)):  # each folder once, in order
        is_own = folder in own_folders
        for entry in _read_distributions(Path(folder), own=is_own, wanted=wanted):
            # If two folders have the same distribution, Python imports the first one.
            first = entries_by_name.setdefault(entry.name, entry)
            # In one site-packages, two versions mean that an update was interrupted.
            if first is not entry and first.folder.parent == entry.folder.parent:
                versions = f"{first.version} and {entry.version}"
                twice = entry._replace(fault=f"is installed twice: {versions}")
                entries_by_name[entry.name] = twice
    for name in names:
        if name not in entries_by_name:
            with suppress(metadata.PackageNotFoundError):
                entries_by_name[name] = _read_older_form(name)

    answer = {}
    for name, entry in entries_by_name.items():
        answer[name] = {field: getattr(entry, field) for field in ANSWERED}
    return answer


def _read_older_form(name: str) -> Distribution:
    """Return a distribution without a .dist-info folder, as far as `importlib.metadata` knows it.

    Its module is guessed from its name. Raise PackageNotFoundError if it is not installed.
    """
    version = metadata.version(name)
    return Distribution(name, version, None, "", (name.replace("-", "_"),), [])


def find_incomplete_installs(site_packages: str | os.PathLike) -> list[Path]:
    """Return the .dist-info folders of the distributions in a folder whose files are damaged.

    An interrupted install leaves such distributions. If the caller removes these folders, pip
    installs the distributions again.
    """
    site_packages = Path(site_packages).resolve()
    return [entry.folder for entry in _read_distributions(site_packages) if entry.fault]


def normalize_name(name: str) -> str:
    """Return the standard spelling of a distribution's name: "Import_Linter" -> "import-linter"."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _read_distributions(
    site_packages: Path, *, own: bool = True, wanted: set[str] | None = None
) -> Iterator[Distribution]:
    """Yield the distributions that are installed in a folder, in the order of their names.

    Parameters
    ----------
    site_packages
        The folder.
    own
        Whether the folder belongs to the environment of this Python, where each distribution has a
        RECORD. In other folders it may be missing, because Linux distributions remove it.
    wanted
        The names of the distributions to yield; None for all.
    """
    try:
        entries = sorted(site_packages.iterdir())
    except OSError:  # there is no such folder, or it may not be read
        return
    folders = [entry for entry in entries if DIST_INFO.match(entry.name)]
    # .dist-info folder -> (its files as path -> size, what is wrong with its RECORD)
    records = {folder: _read_record(folder, own) for folder in folders}
    all_files = [files for files, _ in records.values()]
    for folder, (files, fault) in records.items():
        name, version = DIST_INFO.match(folder.name).groups()
        name = normalize_name(name)
        if wanted is None or name in wanted:
            fault = fault or _fault_of_files(site_packages, files, all_files)
            modules = _modules(files) or _usual_modules(name, bool(files))
            yield Distribution(name, version, folder, fault, modules, _requirements(folder))


def _usual_modules(name: str, has_files: bool) -> tuple[str, ...]:
    """Return the modules to import of a distribution whose RECORD lists no module.

    Without a RECORD (`has_files` is False), the name of the distribution is taken for the module.
    """
    if has_files:
        return EDITABLE.get(name, ())
    return (name.replace("-", "_"),)


def _read_record(folder: Path, own: bool) -> tuple[dict[str, str], str]:
    """Read the RECORD of a distribution; return (path -> size, what is wrong with RECORD or "").

    `folder` is the .dist-info folder. `own` says whether a missing RECORD is a fault, as in
    `_read_distributions`. A size is text, which may be "".
    """
    try:
        text = (folder / "RECORD").read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}, "its install did not finish" if own else ""
    except (OSError, ValueError):
        return {}, "its list of files (RECORD) cannot be read"
    rows = [row for row in csv.reader(text.splitlines()) if row]
    # A row is path, hash, size. RECORD lists itself, too, often as the last file.
    is_whole = text.endswith("\n") and all(len(row) == 3 for row in rows)
    if not is_whole or not any(path == f"{folder.name}/RECORD" for path, *_ in rows):
        return {}, "its list of files (RECORD) is cut short"
    return {path: size for path, _, size in rows}, ""


def _fault_of_files(
    site_packages: Path, files: dict[str, str], all_files: list[dict[str, str]]
) -> str:
    """Return a clause on the first file that is missing or has a wrong size; "" if all are right.

    `files` is path -> size, as one RECORD lists them. `all_files` has such a dict for every RECORD
    in the folder. If several distributions have installed the same file, each of their sizes is
    right.
    """
    prefix = os.path.join(_find_environment(site_packages), "")
    missing = []  # paths
    changed = []  # clauses on files with another size
    cut = []  # clauses on compiled files
    for path, size in files.items():
        file_path = _locate_file(path, site_packages, prefix)
        if file_path is None:
            continue
        try:
            actual_size = os.stat(file_path).st_size
        except OSError:
            missing.append(path)
            continue
        if path.endswith(".py") and _is_cut_bytecode(importlib.util.cache_from_source(file_path)):
            cut.append(f"the compiled form of {path} is cut short, as on a full disk")
        # RECORD gives no size for some files, such as itself.
        if not size.isdigit() or actual_size == int(size) or _may_change(path, file_path):
            continue
        if not any(others.get(path) == str(actual_size) for others in all_files):
            changed.append(f"{path} has {actual_size:,} bytes instead of {int(size):,}")

    if len(missing) > 1:
        return f"{len(missing):,} of its files are missing, such as {missing[0]}"
    if missing:
        return f"its file {missing[0]} is missing"
    faults = changed + cut
    return faults[0] if faults else ""


def _locate_file(path: str, site_packages: Path, prefix: str) -> str | None:
    """Return the absolute path of a file that RECORD lists; None if the file may be missing.

    `path` is relative to `site_packages`, and `prefix` is the folder of the environment. A compiled
    file, and a file outside of the environment, may be missing.
    """
    if path.endswith(".pyc"):
        return None
    file_path = os.path.join(site_packages, path)
    if not path.startswith(".."):
        return file_path
    # Such as "../../../bin/pip", which is a script in the environment.
    file_path = os.path.normpath(file_path)
    return file_path if file_path.startswith(prefix) else None


def _is_cut_bytecode(path: str) -> bool:
    """Return whether a .pyc file is cut short, so that Python would try to load it and fail.

    CPython 3.11 may leave such a file when the disk is full.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return False
    if data[:4] != importlib.util.MAGIC_NUMBER:  # of another Python, which this one ignores
        return False
    try:
        marshal.loads(data[16:])  # the header has 16 bytes
    except (EOFError, ValueError, TypeError):
        return True
    return False


def _find_environment(site_packages: Path) -> str:
    """Return the folder of the environment that a folder of packages belongs to."""
    for folder in site_packages.parents:
        if (folder / "pyvenv.cfg").exists():
            return str(folder)
    return os.path.realpath(sys.prefix)


def _may_change(path: str, file_path: str) -> bool:
    """Return whether a file may rightly have another size than RECORD says.

    `path` is as RECORD lists it, and `file_path` is its absolute path.
    """
    if path.endswith(".pem"):  # certificates, to which a company adds its own
        return True
    if not path.startswith(".."):
        return False
    if "etc" in path.split("/"):  # settings, which users edit
        return True
    with open(file_path, "rb") as file:
        return file.read(2) == b"#!"  # a script, whose first line has the path of the environment


def _modules(files: Iterable[str]) -> tuple[str, ...]:
    """Return the outermost public modules among the files of a distribution, without tests.

    `files` are paths as RECORD lists them: "numpy/__init__.py" and "numpy/linalg/x.py" -> "numpy".
    """
    modules = set()
    for path in files:
        if not path.endswith(EXTENSIONS):
            continue
        *folders, file = path.split("/")
        stem = file.partition(".")[0]
        names = folders if stem == "__init__" else [*folders, stem]
        if all(map(_is_public, names)):
            modules.add(tuple(names))
    # The outermost modules have the fewest names. A folder without __init__.py is a namespace and
    # no module. If a distribution has only such a folder, the packages in it are the outermost.
    depth = min(map(len, modules), default=0)
    return tuple(sorted(".".join(names) for names in modules if len(names) == depth))


def _is_public(name: str) -> bool:
    """Return whether a name is that of a module which other code imports."""
    is_private = name.startswith("_") or name.endswith("__mypyc")
    return name.isidentifier() and not is_private and name not in NOT_IMPORTED


def _requirements(folder: Path) -> list[str]:
    """Return the names of the distributions that a distribution requires, without its extras.

    `folder` is its .dist-info folder, whose file METADATA lists them.
    """
    try:
        text = (folder / "METADATA").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    header = text.partition("\n\n")[0].splitlines()
    names = []
    for line in header:
        match = REQUIRES.match(line)
        if match and "extra ==" not in line:
            names.append(normalize_name(match[1]))
    return names


def main() -> None:
    """Check the distributions that the command line names, and print what was found as JSON."""
    # Python adds the folder of a script to `sys.path`. The modules there could hide packages.
    own_folder = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != own_folder]
    print(json.dumps(look_at_files(*json.loads(sys.argv[1]))))


if __name__ == "__main__":
    main()
