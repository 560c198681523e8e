"""`python -m persona_evo` is `persona-evo`. Nothing is imported here before Ctrl-C is handled."""


def entry() -> int:
    """Run the command on the command line and return its exit code (see `cli.main`)."""
    try:
        from persona_evo.cli import main

        return main.entry()
    except KeyboardInterrupt:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return 130


if __name__ == "__main__":
    raise SystemExit(entry())
