"""Games outside this process, in any language: the driver's side of `unity_support/PROTOCOL.md`.

| module | what |
|---|---|
| `protocol`, `random` | frames and random numbers, pure |
| `client` | the game's side for games in Python |
| `launch`, `worker`, `pool` | one command, one process, several of them with results in the order of orders |
| `findings` | what makes a game fail |
| `descent`, `tree`, `search` | the tree over prefixes: its inner loop, its memory and file, the search |
| `description`, `session`, `game` | the TOML file, its running processes, and the game like any other made of both |
| `doctor`, `traces` | is a game fit; the best way to play in a file, and its replay |

    game = registry.get("tower.toml")
    (level,) = mapsets.resolve(game, ["cave:hard@3"])
    planner = planner_for(game, level, SearchSettings.anytime(), capacity=100_000)
    plan = planner.plan(persona.utility, TreePolicy.ucb1(1000), Budget(5_000), seed=1, tell=lambda sample: ...)
    game.outside.close()

Why it is done so:

- A search depends on its seed and on `slots`, the number of rollouts under way, alone. With `workers` processes at
  least as many slots keep all of them busy; a game that plays a rollout in well under a millisecond wants some slots
  for each worker (8 give twice the rate of 1), since handing an order over costs more than playing it.
- Playthroughs of connected games are made one after the other in the process that was called, whatever `jobs` says:
  what runs at once is their rollouts.
- A driver that is killed at once (SIGKILL) cannot end its games; they see the end of the stream and quit. Only one that
  hangs at that moment stays.
"""
