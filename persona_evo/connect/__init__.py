"""Games outside this process, in any language: the driver's side of `unity_support/PROTOCOL.md`.

| module | what |
|---|---|
| `protocol`, `hello_frame` | frames: bytes in, values out |
| `client`, `driver_connection` | the game's side, for games in Python |
| `launch`, `process_start` | the command that starts a game, and how long it may take |
| `worker`, `listener` | one process, and who is let in at its port |
| `guard`, `watchdog`, `shutdown` | the end of processes, whatever happens to them or to the driver |
| `pool`, `seat`, `restarts`, `result_check` | several processes, with results in the order of orders |
| `local_pool`, `pool_share` | in a pool's place: a game of the catalog in this process; one of several searches |
| `findings` | what makes a game fail |
| `tree`, `search` | the tree over prefixes as a file, and the search (its inner loop is `search.prefixes`) |
| `description`, `description_file` | what the TOML file says |
| `session`, `game`, `planner`, `parallel_plans` | running processes, and a game like any other made of them |
| `doctor`, `traces` | is a game fit; the best way to play in a file, and its replay |

    game = registry.get("tower.toml")
    (level,) = mapsets.resolve(game, ["cave:hard@3"])
    planner = planner_for(game, level, SearchSettings.single(), capacity=100_000)
    plan = planner.plan(persona.utility, TreePolicy.ucb1(1000), Budget(5_000), seed=1, tell=lambda sample: ...)
    game.outside.close()

Decisions:

- A search depends only on its seed and on `slots`, the number of rollouts under way: 8, unless the file says otherwise
  or there are more workers. A game that plays a rollout in well under a millisecond is ordered five times as fast with
  8 as with 1, since handing an order over costs more than playing it. What UCB1 finds was the same within the intervals
  (2D Roguelike, 15 levels, 300 and 1,500 rollouts a playthrough).
- Playthroughs of connected games are made one after the other in the process that was called, whatever `jobs` says.
  Their rollouts run at once.
- A driver that is killed (SIGKILL) cannot end its games. A watchdog beside it does, and guards end what the games have
  started. `docs/pages/reference/processes.md` says what is guaranteed on which system.
"""
