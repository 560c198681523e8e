"""The place for a graphical interface; empty so far."""
