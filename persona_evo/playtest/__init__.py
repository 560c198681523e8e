"""Playthroughs, their statistics, and what they show of a level; matches and experiments."""
