"""The Littlest JupyterHub: into /opt/tljh/config/jupyterhub_config.d/, beside config.yaml.

Each server starts with the branch in ~/course and what is new of it in ~/course/work.
"""

COURSE = "/srv/course"  # a clone of the course that learners can read

c = get_config()  # noqa: F821

c.Spawner.cmd = ["/opt/tljh/user/bin/python", f"{COURSE}/hub/start_learner.py"]
c.Spawner.default_url = "/lab/tree/course/work/00_start_here.ipynb"
c.Spawner.environment = {
    "COURSE_REPO": "https://example.org/you/who-runs-your-function",  # yours
    "COURSE_BRANCH": "main",
}
c.Spawner.start_timeout = 300
