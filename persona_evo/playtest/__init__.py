"""Playthroughs, their statistics, and the findings that they support about a level."""
