"""The metrics of Colosseum Survival! in the order in which the rules write them. Each player sees its own board."""

from __future__ import annotations

from persona_evo.games.core import Metric

METRICS = (
    Metric("ST", "moves made", "moves of both players so far", "moves", clock=True),
    Metric("MV", "to move", "1 when it is this player's turn", high=1),
    Metric("WIN", "won", "1 when this player has won, 1/2 for a tie", high=1, better="higher"),
    Metric("LOSS", "lost", "1 when this player has lost, 1/2 for a tie", high=1, better="lower"),
    Metric(
        "MG",
        "margin",
        "own cells less the other's at the end, as a share of the board; 0 before",
        low=-1,
        high=1,
        better="higher",
        main=True,
    ),
    Metric("WA", "walls around me", "walled sides of this player's cell", high=4, better="lower"),
    Metric("OWA", "walls around the other", "walled sides of the other's cell", high=4, better="higher"),
    Metric("MD", "distance", "rows plus columns between the players", "cells"),
    Metric(
        "RC",
        "reach",
        "cells this player could walk to in one move, its own among them",
        "cells",
        better="higher",
        costly=True,
    ),
    Metric("ORC", "reach of the other", "the same for the other", "cells", better="lower", costly=True),
    Metric("NM", "moves", "moves this player could choose from if it were its turn", better="higher", costly=True),
    Metric("ONM", "moves of the other", "the same for the other", better="lower", costly=True),
    Metric("DI", "way", "steps from one player to the other, size * size where there is no way", "steps", costly=True),
    Metric(
        "TE",
        "territory",
        "cells fewer steps from this player than from the other",
        "cells",
        better="higher",
        costly=True,
    ),
    Metric("OTE", "territory of the other", "cells fewer steps from the other", "cells", better="lower", costly=True),
)
