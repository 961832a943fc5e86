"""Live object -> model. Only this room touches interpreters and frameworks."""
