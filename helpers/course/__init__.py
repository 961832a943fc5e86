"""What `course.py` starts once there is an environment; the notebooks have nothing to do with it.

It uses `safety`, and of course.py what both must know: where things are, and how to refuse.
"""
