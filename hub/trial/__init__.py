"""A real JupyterHub on loopback with simulated learners; `hub/try.py` has the commands."""
