"""Plays games that run outside this process, in any language: the driver's side of `unity_support/PROTOCOL.md`.

| module | what it does |
|---|---|
| `protocol`, `hello_frame` | encode and decode frames |
| `client`, `driver_connection` | the game's side, for games in Python |
| `launch`, `process_start` | the command that starts a game, and its time limits |
| `worker`, `listener` | one process, and which connections its port accepts |
| `guard`, `watchdog`, `shutdown` | end processes, whatever happens to them or to the driver |
| `pool`, `seat`, `restarts`, `result_check` | several processes, with results in the order of orders |
| `local_pool`, `pool_share` | replacements for a pool: a catalog game in this process; one of several searches |
| `findings` | what makes a game fail |
| `tree`, `search` | the tree of prefixes as a file, and the search (its inner loop is `search.prefixes`) |
| `worlds`, `open_search`, `hidden_play` | search and play where the seed decides what the player cannot know |
| `priors`, `asking` | the order in which wide decisions are searched, and how a game tells its weights |
| `snapshot_orders` | the states that a game may keep for a search |
| `description`, `level_names`, `description_file` | the TOML file that describes a game |
| `session`, `game`, `planner`, `parallel_plans` | running processes, and the `Game` that is made of them |
| `doctor`, `traces` | check a game; store and replay the best playthrough |

    game = registry.get("tower.toml")
    (level,) = mapsets.resolve(game, ["cave:hard@3"])
    planner = planner_for(game, level, SearchSettings.single(), capacity=100_000)
    plan = planner.plan(persona.utility, TreePolicy.ucb1(1000), Budget(5_000), seed=1, tell=lambda sample: ...)
    game.outside.close()

Decisions:

- A search depends only on its seed and on `slots`, the number of rollouts under way: 8, unless the file says otherwise
  or there are more workers. With 8 slots, a game that plays a rollout in well under a millisecond plays five times as
  many as with 1, because handing over an order costs more than playing it. The results of UCB1 were the same within the
  confidence intervals (2D Roguelike, 15 levels, 300 and 1,500 rollouts per playthrough).
- Playthroughs of connected games are made in the calling process, whatever `jobs` says, unless the workers are those of
  a Dask cluster. Their rollouts run in parallel.
- A driver that is killed (SIGKILL) cannot end its games. A watchdog beside it does, and guards end what the games have
  started. `docs/pages/reference/processes.md` says what is guaranteed on which system.
"""
