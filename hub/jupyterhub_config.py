"""JupyterHub on this machine alone, for a trial: everybody is on loopback and nobody is checked.

`python hub/try.py` starts it and sets the variables. SimpleLocalProcessSpawner keeps no learner
from another's files: for people, use tljh/ or values.yaml.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = Path(os.environ["COURSE_HUB_HOME"])  # whatever the trial writes is in here
PORT, HUB_PORT, API_PORT = map(int, os.environ["COURSE_HUB_PORTS"].split())
PLACE = {"COURSE_REPO": os.environ["COURSE_REPO"], "COURSE_BRANCH": "main"}

c = get_config()  # noqa: F821

c.JupyterHub.bind_url = f"http://127.0.0.1:{PORT}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{HUB_PORT}"
c.JupyterHub.db_url = f"sqlite:///{HOME}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(HOME / "cookie_secret")
c.JupyterHub.cleanup_servers = False  # learners go on while the hub is started again
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{API_PORT}"
c.ConfigurableHTTPProxy.pid_file = str(HOME / "proxy.pid")
c.ConfigurableHTTPProxy.command = [str(HERE / "node_modules/.bin/configurable-http-proxy")]

c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = os.environ["COURSE_HUB_PASSWORD"]
c.Authenticator.allow_all = True

c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(HOME / "homes" / "{username}")
c.Spawner.cmd = [os.environ["COURSE_PYTHON"], str(HERE / "start_learner.py")]
c.Spawner.args = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
c.Spawner.args += ["--ServerApp.jpserver_extensions={'nbgitpuller': True}"]
c.Spawner.default_url = "/lab/tree/course/work/00_start_here.ipynb"
c.Spawner.start_timeout = c.Spawner.http_timeout = 300
c.Spawner.environment = {
    **PLACE,
    "COURSE_BESIDE": next(path for path in sys.path if path.endswith("site-packages")),
    "TMPDIR": str(HOME / "tmp"),
}
