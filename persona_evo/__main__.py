"""`python -m persona_evo` is `persona-evo`."""

import sys

from persona_evo.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
