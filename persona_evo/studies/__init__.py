"""Published experiments that can be run again, a folder for each, and the code that they share.

| module | what it holds |
|---|---|
| `commands` | options and messages that the commands of all studies share |
| `keeping` | the folder of a reproduction and its settings in `reproduction.json` |
| `colosseum` | agents of two students' reports for Colosseum Survival! |
| `evolution` | comparison of an evolved policy with other ways to find one; a study of our own |
| `minidungeons` | personas through MCTS with evolved heuristics (Holmgård et al. 2019) |
| `montecarlo` | machine playtesting of designs and playstyles (Keehl 2018) |
| `puyo` | Monte Carlo search for Puyo-Puyo (Hanson and Moffat 2014) |

The rest of the package works without this folder.
"""
