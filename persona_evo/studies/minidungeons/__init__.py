"""Personas through Monte Carlo tree search with evolved heuristics (Holmgård et al. 2019).

| module | what it holds |
|---|---|
| `published` | the publication's numbers, from `minidungeons.toml` |
| `settings` | protocol and budgets, which are written to `reproduction.json` |
| `study_run` | the evolutions and playtests in their order, each resumable |
| `results` | the publication's tables, made of playthroughs |
| `agreement` | where the results agree with the publication |
| `cross` | policies under other utilities, on other maps, and against more search |
| `figures` | the publication's figures |
| `provenance` | settings, seeds and versions, and reservations about the numbers |
| `report` | the page |
"""
