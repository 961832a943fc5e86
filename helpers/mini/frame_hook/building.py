"""hook.c -> a loaded extension module: compiled once per source and Python, then found again."""

import hashlib
import importlib.util
import opcode
import os
import shlex
import shutil
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType

from ...safety import folders, progress
from ...safety.children import run
from ...safety.missing_parts import COMPILER_CURE, OneSentence

SOURCE = Path(__file__).with_name("hook.c")
PYTHONS = ((3, 11), (3, 12), (3, 13))
KINDS = 0x2A0  # generator, coroutine, asynchronous generator: Include/cpython/code.h
LONGEST = 60  # seconds


class NotBuilt(OneSentence, RuntimeError):
    """There is no extension. The message says why in one sentence."""


@cache
def extension() -> ModuleType:
    """Return the extension, built if need be. NotBuilt says why there is none."""
    spec = importlib.util.spec_from_file_location("_frame_hook", build())
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.set_up(_make_stub)
    except (ImportError, RuntimeError) as error:
        raise NotBuilt(f"the frame hook cannot be loaded here: {error}") from None
    return module


def build() -> Path:
    """Return the file of the extension, compiled if need be. NotBuilt says why there is none."""
    refuse_python()
    home = folders.cache("frame_hook")
    fits = SOURCE.read_bytes(), sys.version.encode(), os.fsencode(sysconfig.get_path("include"))
    key = hashlib.sha256(b"\0".join(fits)).hexdigest()[:16]
    path = home.path / f"_frame_hook-{key}{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not path.exists():
        _compile(home, path.name)
    return path


def refuse_python() -> None:
    """Raise NotBuilt where the frames are not those that hook.c knows."""
    if sys.version_info[:2] not in PYTHONS or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NotBuilt("the frame hook knows the frames of CPython 3.11 to 3.13, with the GIL")


def _compile(home: folders.ManagedDirectory, name: str) -> None:
    """Compile into a separate folder, then move it into place, so that it is never half there."""
    headers, asked = sysconfig.get_path("include"), os.environ.get("CC")
    commands = map(shlex.split, [asked] if asked else ["cc", "gcc", "clang"])
    command = next((one for one in commands if shutil.which(one[0])), None)
    if command is None:
        raise NotBuilt(f"there is no C compiler to build the frame hook with: {COMPILER_CURE}")
    mac = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    flags = ["-O2", "-shared", "-fPIC", "-w", *mac, f"-I{headers}", str(SOURCE)]
    try:
        with progress.doing("compiling the frame hook"), home.work() as work:
            own = {**os.environ, "TMPDIR": str(work)}  # a compiler that is ended leaves files
            done = run([*command, *flags, "-o", str(work / name)], LONGEST, env=own)
            if done.late or done.code:
                first = next((line for line in done.err.splitlines() if "error" in line), "")
                raise NotBuilt(f"the C compiler could not build the frame hook: {first.strip()}")
            home.put(work / name, name)
    except OSError as error:
        raise NotBuilt(f"the C compiler did not run ({type(error).__name__})") from None


def _make_stub(code: CodeType) -> CodeType:
    """Return code with the same places that does nothing but return None."""
    op, flags = opcode.opmap, code.co_flags & ~KINDS
    steps = bytes([op["RESUME"], 0, op["LOAD_CONST"], 0, op["RETURN_VALUE"], 0])
    more = {"co_exceptiontable": b"", "co_linetable": b"", "co_flags": flags}
    return code.replace(co_code=steps, co_consts=(None,), **more)
