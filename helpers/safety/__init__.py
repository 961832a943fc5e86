"""What keeps the learner's machine and kernel whole: every room may use it, it uses none."""

PACKAGE = __name__.rpartition(".")[0]  # `helpers` in the course, `whoruns` in the wheel
