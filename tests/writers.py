"""Source -> the calls in it that delete, move, overwrite or write files, or start a process."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = ("os", "shutil", "tempfile", "subprocess", "pathlib", "io", "builtins", "multiprocessing")
OF_A_MODULE = {
    "os": """remove unlink rename renames replace rmdir removedirs mkdir makedirs link symlink chmod
        chown fchmod truncate open fdopen mkfifo mknod utime fork forkpty posix_spawn posix_spawnp
        execv execve execvp execvpe execl execle execlp execlpe system popen kill killpg""",
    "shutil": "rmtree move copy copy2 copyfile copytree copymode copystat make_archive "
    "unpack_archive chown",
    "tempfile": "mkstemp mkdtemp mktemp NamedTemporaryFile TemporaryFile TemporaryDirectory "
    "SpooledTemporaryFile",
    "subprocess": "run Popen call check_call check_output getoutput getstatusoutput",
    "io": "open FileIO",
    "builtins": "open",
    "multiprocessing": "Process Pool",
}
METHODS = {"write_text", "write_bytes", "unlink", "rmdir", "mkdir", "touch", "rename", "rmtree"}
METHODS |= {"symlink_to", "hardlink_to", "chmod", "savefig", "extractall"}


def writers(source: str) -> Counter:
    """Return function -> what it calls; `open` to read and `str.replace` are none of them."""
    return _Reader().read(ast.parse(source))


def writers_of(path: Path) -> Counter:
    """Return the same for a file, each with its place in the project in front."""
    found = writers(path.read_text(encoding="utf-8"))
    return Counter({f"{path.relative_to(ROOT).as_posix()} {k}": n for k, n in found.items()})


class _Reader(ast.NodeVisitor):
    def __init__(self):
        self._inside, self._names, self._found = [], {"open": "io.open"}, Counter()

    def read(self, tree) -> Counter:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    if one.name in MODULES:
                        self._names[one.asname or one.name] = one.name
            elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
                for one in node.names:
                    self._names[one.asname or one.name] = f"{node.module}.{one.name}"
        self.visit(tree)
        return self._found

    def visit_FunctionDef(self, node):
        self._inside.append(node.name)
        self.generic_visit(node)
        self._inside.pop()

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # noqa: N815

    def visit_Call(self, node):
        name, base = self._dotted(node.func), self._dotted(node.func).rpartition(".")[0]
        own = isinstance(node.func, ast.Attribute) and base not in OF_A_MODULE
        if _is_open(name) and _only_reads(node, name):
            for part in (*node.args, *node.keywords):
                self.visit(part)
            return
        if own and node.func.attr == "replace" and len(node.args) == 1 and not node.keywords:
            self._note("Path.replace")
        if own and node.func.attr == "open":
            self._note("Path.open")
        if name == "getattr" and len(node.args) > 1 and self._dotted(node.args[0]) in OF_A_MODULE:
            given = node.args[1]
            self._note(f"getattr {given.value if isinstance(given, ast.Constant) else '?'}")
        self.generic_visit(node)

    def visit_Attribute(self, node):
        name = self._dotted(node)
        module, _, attribute = name.rpartition(".")
        if attribute in OF_A_MODULE.get(module, "").split():
            self._note(name)
        elif module not in OF_A_MODULE and attribute in METHODS:
            self._note(f"Path.{attribute}")
        self.generic_visit(node)

    def visit_Name(self, node):
        module, _, attribute = self._names.get(node.id, "").rpartition(".")
        if attribute in OF_A_MODULE.get(module, "").split():
            self._note(f"{module}.{attribute}")

    def _dotted(self, node) -> str:
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self._dotted(node.value)}.{node.attr}"
        return ""

    def _note(self, what: str):
        self._found[f"{'.'.join(self._inside) or '<module>'}: {what}"] += 1


def _is_open(name: str) -> bool:
    """Return whether a call opens a file by a mode; os.open does it by flags."""
    return name.endswith((".open", "os.fdopen")) and name != "os.open"


def _only_reads(node, name: str) -> bool:
    """Return whether the mode of an `open` is written there, and is one for reading."""
    at = 0 if name not in ("io.open", "builtins.open", "os.fdopen") else 1
    modes = [one.value for one in node.keywords if one.arg == "mode"] + node.args[at : at + 1]
    if not modes:
        return True
    mode = modes[0]
    return (
        isinstance(mode, ast.Constant)
        and type(mode.value) is str
        and not set("wax+") & set(mode.value)
    )
