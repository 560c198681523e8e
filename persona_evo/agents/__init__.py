"""Play from move to move: agents as data, games between them, and players of limited skill.

| module | contents |
|---|---|
| `agent` | agents as data |
| `agent_files` | agents in TOML files |
| `agent_seat` | an agent at one side of a game |
| `contest` | one game between agents |
| `duel` | whole games of an agent, alone or against an opponent, in the form of a plan; leagues |
| `program` | programs of others as agents, each in a process |
| `output` | the output of such a process |
| `skill` | levels of skill |
| `skilled_player` | a player of limited skill |
| `continuation` | play from the end of a plan to the end of the game |
"""
