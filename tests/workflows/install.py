"""Makes the environment that checks workflow files: `python3 -m tests.workflows.install`."""

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
VENV = HERE.parents[1] / ".tools" / "workflows"
PROGRAMS = VENV / ("Scripts" if sys.platform == "win32" else "bin")
CHECKER = PROGRAMS / ("check-jsonschema.exe" if sys.platform == "win32" else "check-jsonschema")


def main() -> int:
    """Make the environment with the pinned packages; return the installer's exit code."""
    venv.create(VENV, with_pip=True)
    pip = [str(PROGRAMS / "python"), "-m", "pip", "install", "--quiet", "--no-input"]
    pip += ["--disable-pip-version-check"]
    pins = ["-r", str(HERE / "requirements.txt"), "-c", str(HERE / "constraints.txt")]
    return subprocess.run(pip + pins, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
