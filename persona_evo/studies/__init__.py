"""Published experiments run again, a folder for each, and what they share.

| module | what |
|---|---|
| `commands` | options and messages that the commands of all studies share |
| `keeping` | `reproduction.json`: what the folder of a reproduction is for |
| `colosseum` | agents of two students' reports for Colosseum Survival! |
| `evolution` | what an evolved policy is worth beside other ways to come by one; a study of our own |
| `minidungeons` | personas through MCTS with evolved heuristics (Holmgård et al. 2019) |
| `montecarlo` | machine playtesting of designs and playstyles (Keehl 2018) |
| `puyo` | Monte Carlo search for Puyo-Puyo (Hanson and Moffat 2014) |

The rest of the package works without this folder.
"""
