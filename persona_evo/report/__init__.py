"""Tables, charts, pictures and pages that present results."""
