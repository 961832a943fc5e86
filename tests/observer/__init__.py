"""The observer test: programs times verbs, each run plain and watched, and everything compared."""
