"""Matches between agents of a two-player game.

| module | content |
|---|---|
| `names` | turns what a user types into agents |
| `job` | plays all games of all pairs on all levels, on all cores, and stores each game |
| `cost` | estimates how long games take |
| `records` | one game as a line of a file, and the folder of a match |
| `reopening` | reads a played match from its folder |
| `replays` | chooses games worth watching and replays their positions |
| `standings` | rates, intervals, tests, and ratings of a round robin |
"""
