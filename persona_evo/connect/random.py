"""The random numbers of connected games: one stream for the game and one for the choices of a rollout.

Both are set anew by every ROLLOUT (see unity_support/PROTOCOL.md). The generator stands in `persona_evo.seeds`, where
games that are the Python twins of connected ones find it, too.
"""

from persona_evo.seeds import SplitMix64, check_weights

__all__ = ["SplitMix64", "check_weights"]
