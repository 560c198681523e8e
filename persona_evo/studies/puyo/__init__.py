"""Monte Carlo search for Puyo-Puyo (Hanson and Moffat, AISB 2014).

| module | what it holds |
|---|---|
| `cells` | settings, the searches that are compared, the publication's claims (`puyo.toml`) |
| `effects` | searches against each other, with effect sizes |
| `games` | the games and the evolution of a persona's tree policy |
| `report` | the page, with figures 2 to 6 |
| `command` | `persona-evo reproduce puyo` |
"""
