"""Machine playtesting of designs and playstyles (Keehl's thesis of 2018).

| module | what it holds |
|---|---|
| `chapters` | the thesis' experiments and findings (`montecarlo.toml`), and the same searches run again |
| `report` | the page |
| `command` | `persona-evo reproduce montecarlo` |
"""
