"""The command line: one module a command, each with `add` (its options) and `run` (what it does).

Nothing heavy is imported before a command runs, so that `--help` is there at once.
"""
