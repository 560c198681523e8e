"""Tests of what every kind of job guarantees."""
