"""Personas through Monte Carlo tree search with evolved heuristics (Holmgård et al. 2019).

| module | what |
|---|---|
| `published` | the publication's numbers, from `minidungeons.toml` |
| `settings` | protocol and budgets; what `reproduction.json` holds |
| `course` | the evolutions and playtests in their order, each resumable |
| `results` | the publication's tables, made of playthroughs, and how far they agree |
| `cross` | policies under other utilities, on other maps, against more search |
| `figures` | the publication's figures |
| `provenance` | settings, seeds and versions, and what to know before citing a number |
| `report` | the page |
"""
