"""The former names of the functions in `job_graph` and `registry_graph`."""

from .job_graph import build_job_graph as job_graph  # noqa: F401
from .registry_graph import EMPTY  # noqa: F401
from .registry_graph import build_registry_graph as registry_graph  # noqa: F401
