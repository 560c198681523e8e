"""The worth of an evolved policy: the study of `persona-evo reproduce evolution`.

| in the folder | what |
|---|---|
| reproduction.json | everything that the result depends on, written first |
| pools.jsonl | training, validation and held-out levels, and the best known utility of each persona in each level |
| lines.jsonl | formulas written by hand with tuned constants |
| runs.jsonl | one line per run of a method: its policy, its curve, its playthroughs and seconds |
| measures.jsonl | one line for a policy on a set of levels: utility and win of each playthrough |

| module | what it holds |
|---|---|
| `settings` | settings of a study: its cells, and the settings of an evolution in each cell |
| `levels` | the pools, and sets of levels by name |
| `training` | the stages that search for policies: lines and runs |
| `measuring` | the worth of policies on sets of levels |
| `choices` | the policies that are compared |
| `stages` | the stages that measure |
| `study` | the stages in their order |
| `findings` | comparisons with intervals, and the goals |
"""
