"""The project's numbers, measured: `python -m tests.benchmarks [names...] [--quick] [--full] [--out FOLDER]`."""
