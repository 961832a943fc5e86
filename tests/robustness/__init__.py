"""How verbs bear what is awkward, wrong or large."""
