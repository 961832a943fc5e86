"""Compiles a definition file in C++ to a program, and asks the program questions. The program is
kept in a cache folder. A question and its answer are rows of words.

The file is compiled, unmodified, with include/oneflow/core/framework/framework.h. The cache finds a
program under a hash of what lies in the op's folder, of the header, the compiler and the flags.
"""

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path

from ...safety import folders, progress
from ...safety.children import run_command, signal_name
from ...safety.folders import ManagedDirectory, make_temporary_folder
from ...safety.missing_parts import COMPILER_CURE
from .errors import NoCompiler, OpError, short_path

INCLUDE = Path(__file__).parent / "include"
FLAGS = ("-std=c++11", "-O0", "-I", str(INCLUDE))
BUILD_SECONDS = 120  # time limit of the compiler
ANSWER_SECONDS = 20  # time limit of a program
# Characters that end a row, a word of a row, and a whole answer.
ROW_END = "\x1e"
WORD_END = "\x1f"
ANSWER_END = "\x04"


def find_compiler():
    """Return the path of a C++ compiler, or None.

    If $CXX is set, only that is tried.
    """
    requested = os.environ.get("CXX")
    names = [requested] if requested else ["g++", "clang++"]
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    return None


def build_program(source) -> Path:
    """Return the cache folder with the `program` of a definition file; compile it if necessary.

    NoCompiler if there is no compiler, OpError if the file does not compile.
    """
    compiler = find_compiler()
    if compiler is None:
        python_definition = short_path(str(source).replace("_cpp_def.cpp", "_op_def.py"))
        raise NoCompiler(
            f"{short_path(source)} needs a C++ compiler, and neither g++ nor clang++ is found: "
            f"{COMPILER_CURE}, or write the same definition in Python, {python_definition}, "
            "and load it with .py_def()"
        )
    home = cache_folder()
    name = _hash_inputs(source, compiler)[:32]
    if not (home.path / name / "program").is_file():
        _compile(source, compiler, home, name)
    return home.path / name


def _hash_inputs(source, compiler) -> str:
    """Return a hash of everything that the program depends on: sources, compiler and flags."""
    digest = hashlib.sha256(repr((compiler, FLAGS, source.name)).encode())
    files = [*sorted(source.parent.rglob("*")), *sorted(INCLUDE.rglob("*"))]
    for file in files:
        if file.is_file() and file.suffix != ".py":
            digest.update(f"\0{file.name}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def cache_folder() -> ManagedDirectory:
    """Return the folder of this user in which compiled programs are kept."""
    return folders.open_cache_folder("cpp_definitions")


def _compile(source, compiler, home, name):
    """Compile a file to `program` in the folder `name` of `home`. OpError if it does not compile.

    The compiler writes into a temporary folder, which is then moved into place. So another process
    never sees an incomplete program.
    """
    with progress.report_activity(f"compiling {source.name}"), home.work() as work:
        new_folder = work / "entry"
        new_folder.mkdir()
        command = [compiler, *FLAGS, source.name, "-o", str(new_folder / "program")]
        # A compiler that is stopped at the time limit leaves files in TMPDIR.
        env = {**os.environ, "LC_ALL": "C", "TMPDIR": str(work)}
        process = run_command(command, BUILD_SECONDS, cwd=source.parent, env=env)
        if process.hit_time_limit:
            raise OpError(f"{short_path(source)} could not be compiled in {BUILD_SECONDS} seconds")
        if process.code:
            raise OpError(f"{short_path(source)} does not compile: {_find_error(process.err)}")
        with suppress(OSError):  # another process has put its program there in the meantime
            home.put(new_folder, name)


def _find_error(message: str) -> str:
    """Return the first line with "error" in a compiler's message, else the first line."""
    # The path of the header differs from machine to machine.
    lines = message.replace(f"{INCLUDE}{os.sep}", "").splitlines()
    for line in lines:
        if "error" in line.lower():
            return line.strip()
    return lines[0] if lines else ""


def ask_program(program, question, number=0, rows=()):
    """Run a program with a question; return the rows of its answer, each a list of words.

    `question` is "describe", "infer" or "gradient". `number` is the index of the definition in its
    file that is asked about, and `rows` is the program's input. OpError if the program answers with
    an error, crashes, exits early or takes too long.
    """
    question_text = "".join(WORD_END.join(map(str, row)) + ROW_END for row in rows)
    with make_temporary_folder("asked-") as home, home.work() as work:
        file = home.path / "answer"
        command = [str(program), question, str(number), str(file)]
        process = run_command(
            command, ANSWER_SECONDS, given=question_text.encode(), cwd=work, kept=False
        )
        answer = file.read_bytes() if file.is_file() else b""

    if process.hit_time_limit:
        raise OpError(f"did not come back in {ANSWER_SECONDS} seconds")
    if process.code < 0:
        name = signal_name(-process.code)
        raise OpError(f"crashed with {name}: look for a null or dangling pointer in it")
    # ANSWER_END is missing if the definition file has called `exit`.
    if process.code or not answer.endswith(ANSWER_END.encode()):
        raise OpError(f"ended its program (exit code {process.code}) instead of returning")

    text = answer.decode(errors="replace").removesuffix(ANSWER_END)
    answer_rows = [row.split(WORD_END) for row in text.split(ROW_END)[:-1]]
    if answer_rows and answer_rows[0][0] == "error":
        raise OpError(answer_rows[0][-1])
    return answer_rows
