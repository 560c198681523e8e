"""What an evolution is worth: the study that `persona-evo reproduce evolution` makes.

| in the folder | what |
|---|---|
| reproduction.json | everything that the result depends on, written first |
| pools.jsonl | training, validation and held-out levels, and the best known utility of each persona in each |
| lines.jsonl | formulas written by hand with tuned constants |
| runs.jsonl | one line a run of a method: its policy, its curve, its playthroughs and seconds |
| measures.jsonl | one line for a policy on a set of levels: utility and win of each playthrough |

| module | what |
|---|---|
| `settings` | settings of a study: its cells, and what an evolution is in each setting |
| `levels` | the pools, and sets of levels by name |
| `training` | the stages that look for policies: lines and runs |
| `measuring` | what policies are worth on sets of levels |
| `choices` | which policies are held against which |
| `stages` | the stages that measure |
| `course` | the stages in their order |
| `findings` | comparisons with intervals, and the goals |
"""
