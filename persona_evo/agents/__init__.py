"""Play from move to move: agents as data, games between them, and players of limited skill.

| module | what |
|---|---|
| `core` | agents of a TOML file, and what plays for them |
| `contest` | one game between agents |
| `duel` | whole games of an agent against an opponent, in the form of a plan; leagues |
| `program` | programs of others as agents, each in a process |
| `output` | what such a process prints |
| `skill` | levels of skill |
| `skilled_player` | a player of limited skill |
| `continuation` | play from the end of a plan to the end of the game |
"""
