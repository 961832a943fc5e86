"""What keeps the learner's machine and kernel whole: every room may use it, it uses none."""
