"""The small systems that learners build and compare with the real ones."""
