"""Two students' agents for Colosseum Survival! (McGill, COMP 424, 2023): matches between them and tests of their parts.

| module | what it holds |
|---|---|
| `matches` | settings, the matches in their order, the claims of the reports (`colosseum.toml`) |
| `findings` | verdicts on the reports' claims |
| `report` | the page |
| `command` | `persona-evo reproduce colosseum` |
"""
