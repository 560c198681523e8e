"""Automated playtesting with personas.

The whole main job in a few lines (everything is loaded when it is first used):

    import persona_evo as pe

    killer = pe.load_persona("monster_killer")
    run = pe.evolve_policy(
        killer,
        ["train01", "train02"],
        generations=5,
        population=40,
        iterations=1000,
        seed=1,
        progress=lambda p: print(f"generation {p.generation + 1}/{p.target}, {p.eta:.0f} s to go"),
    )
    policy = pe.load_policy(run.policy)
    print(policy.best)
    players = [pe.player(killer, policy), pe.player(killer, "ucb1")]
    results = pe.playtest_levels("test01", players, trials=20, iterations=1000, seed=1)
    print(results)
    results.write("runs/report")

The names below are those of `persona_evo.api`, where they are explained (`persona_evo.evolve` and
`persona_evo.playtest` are packages, hence the longer names of two functions).
"""

from __future__ import annotations

from persona_evo.version import __version__ as __version__

TYPE_CHECKING = False  # stands for typing.TYPE_CHECKING: importing typing would delay start and Ctrl-C of commands

if TYPE_CHECKING:
    from persona_evo.api import *  # noqa: F403
    from persona_evo.api import __all__ as __all__


def __getattr__(name: str) -> object:
    import importlib

    api = importlib.import_module("persona_evo.api")
    if name == "__all__":
        return api.__all__
    if name not in api.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(api, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    import importlib

    return sorted([*globals(), *importlib.import_module("persona_evo.api").__all__])
