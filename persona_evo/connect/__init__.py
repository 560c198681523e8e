"""Games outside this process, in any language: the driver's side of `unity_support/PROTOCOL.md`.

| module | what |
|---|---|
| `protocol`, `random` | frames and random numbers, pure |
| `client` | the game's side for games in Python |
| `launch`, `worker`, `pool` | one command, one process, several of them with results in the order of orders |
| `listener`, `watchdog` | who is let in at a process's port; the end of games whose driver was killed |
| `findings` | what makes a game fail |
| `tree`, `search` | the tree over prefixes as a file, and the search (its inner loop is `search.prefixes`) |
| `description`, `session`, `game` | the TOML file, its running processes, and the game like any other made of both |
| `doctor`, `traces` | is a game fit; the best way to play in a file, and its replay |

    game = registry.get("tower.toml")
    (level,) = mapsets.resolve(game, ["cave:hard@3"])
    planner = planner_for(game, level, SearchSettings.single(), capacity=100_000)
    plan = planner.plan(persona.utility, TreePolicy.ucb1(1000), Budget(5_000), seed=1, tell=lambda sample: ...)
    game.outside.close()

Why it is done so:

- A search depends on its seed and on `slots`, the number of rollouts under way, alone: 8, unless the file says
  otherwise or there are more workers. A game that plays a rollout in well under a millisecond is ordered five times as
  fast with 8 as with 1, since handing an order over costs more than playing it; what UCB1 finds was the same within the
  intervals (2D Roguelike, 15 levels, 300 and 1,500 rollouts a playthrough).
- Playthroughs of connected games are made one after the other in the process that was called, whatever `jobs` says:
  what runs at once is their rollouts.
- A driver that is killed at once (SIGKILL) cannot end its games; they see the end of the stream and quit. One that
  hangs at that moment is killed by a small process beside the driver; on Windows, without process groups, it stays.
"""
