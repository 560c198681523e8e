"""Benchmarks of the project: `python -m tests.benchmarks [names...] [--quick] [--full] [--out FOLDER]`."""
