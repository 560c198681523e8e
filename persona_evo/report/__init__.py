"""Tables, charts, pictures and pages of results."""
