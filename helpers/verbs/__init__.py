"""The verbs, by subject. `helpers` imports a subject when one of its verbs is asked for."""
