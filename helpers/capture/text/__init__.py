"""Any object, error or source in words; nothing of the object is run."""
