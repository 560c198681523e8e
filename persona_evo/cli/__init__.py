"""The command line: one module per command, each with `add` (adds its options) and `run` (runs it).

Nothing heavy is imported before a command runs, so that `--help` appears at once.
"""
