"""What can be clicked: a module, its script and its styles each."""
