"""Names and what they refer to: holders of an object, found, drawn and rebound."""
