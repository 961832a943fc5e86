"""A C++ definition file -> a program, kept in a cache and compiled anew when anything differs.

An entry is found by what went into it: the file's bytes, the compiler, the flags. It also lists
each further file that the compiler read, with a hash; one changed byte makes the entry useless.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from helpers.mini.oneflow.errors import OpError, place

INCLUDE = Path(__file__).parent / "include"
FLAGS = ("-std=c++11", "-O0", "-I", str(INCLUDE))
LONGEST = 120  # seconds


def find_compiler():
    """Return the path of g++ or clang++ (or of $CXX); None where there is none."""
    named = os.environ.get("CXX")
    for name in [named] if named else ["g++", "clang++"]:
        if path := shutil.which(name):
            return path
    return None


def build(source) -> Path:
    """Return the folder of the cache that holds the file's `program`. Raises OpError."""
    compiler = find_compiler()
    if compiler is None:
        raise OpError(
            f"{place(source)} needs a C++ compiler, and neither g++ nor clang++ is found; "
            f"write the same definition in Python, "
            f"{place(str(source).replace('_cpp_def.cpp', '_op_def.py'))}, "
            "and load it with .py_def()"
        )
    entry = cache_folder() / _key(source, compiler)
    if not _usable(entry, source.parent):
        _compile(source, compiler, entry)
    return entry


@cache
def cache_folder() -> Path:
    """Return the folder that keeps programs; a temporary one if the usual cannot be written."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = usual / "who-runs-your-function" / "cpp_definitions"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="cpp_definitions_"))
    return folder


def _key(source, compiler):
    found = Path(compiler).resolve().stat()
    parts = (compiler, found.st_size, found.st_mtime_ns, FLAGS, source.name)
    return hashlib.sha256(source.read_bytes() + repr(parts).encode()).hexdigest()[:32]


def _usable(entry, folder):
    """Say whether an entry is whole and every file that it was made of is the same still."""
    try:
        reads = json.loads((entry / "reads.json").read_text())
        same = all(_hash(folder / name) == digest for name, digest in reads.items())
        return same and (entry / "program").is_file()
    except (OSError, ValueError):
        return False


def _compile(source, compiler, entry):
    with tempfile.TemporaryDirectory(dir=entry.parent) as work:
        command = [compiler, *FLAGS, "-MMD", "-MF", f"{work}/reads.d", source.name]
        try:
            done = subprocess.run(
                [*command, "-o", f"{work}/program"],
                cwd=source.parent,
                env={**os.environ, "LC_ALL": "C"},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LONGEST,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise OpError(f"{place(source)} could not be compiled: {error}") from error
        if done.returncode:
            raise OpError(f"{place(source)} does not compile: {_first_error(done.stderr, source)}")
        reads = _reads(Path(work, "reads.d").read_text())
        hashes = {name: _hash(source.parent / name) for name in reads}
        Path(work, "reads.json").write_text(json.dumps(hashes))
        made = Path(work, "entry")
        made.mkdir()
        for name in ("program", "reads.json"):
            os.replace(Path(work, name), made / name)
        shutil.rmtree(entry, ignore_errors=True)
        try:
            os.replace(made, entry)
        except OSError:
            if not _usable(entry, source.parent):  # else another process was faster
                raise


def _reads(rule):
    """Return the files that a make rule of the compiler names, but for the source itself."""
    words = rule.partition(":")[2].replace("\\\n", " ").replace("\\ ", "\0").split()
    return [word.replace("\0", " ").replace("\\#", "#").replace("$$", "$") for word in words[1:]]


def _hash(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _first_error(text, source):
    """Return the compiler's first line that names an error, and where the source comes to it."""
    lines = [line.strip() for line in text.replace(f"{INCLUDE}{os.sep}", "").splitlines()]
    first = next((line for line in lines if "error" in line.lower()), None)
    if first is None:
        return lines[0] if lines else "the compiler said nothing"
    places = [line.split(":")[1] for line in lines if line.startswith(f"{source.name}:")]
    inside = first.startswith(source.name) or not any(map(str.isdigit, places))
    return first if inside else f"{first} (from {source.name}, line {places[0]})"
