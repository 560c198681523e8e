"""Two students' agents for Colosseum Survival! (McGill, COMP 424, 2023), against each other and part by part.

| module | what |
|---|---|
| `matches` | settings, the matches in their order, what the reports say (`colosseum.toml`) |
| `findings` | verdicts on the reports' claims |
| `report` | the page |
| `command` | `persona-evo reproduce colosseum` |
"""
