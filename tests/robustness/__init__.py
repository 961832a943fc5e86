"""How verbs bear what is hostile, wrong, cut short or large; `table.py` runs it all."""
