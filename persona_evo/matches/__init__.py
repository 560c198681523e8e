"""Matches between agents of a two-player game.

| module | what |
|---|---|
| `names` | from what a user types to agents |
| `job` | all games of all pairs on all levels, on all cores, written down one by one |
| `cost` | what games will take |
| `records` | one game as a line of a file, and the folder of a match |
| `reopening` | a match that was played, from its folder |
| `replays` | games worth looking at, and their positions |
| `standings` | rates, intervals, tests, and ratings of a round robin |
"""
