"""Experiments: how much can a player, or a design, get out of a game?

| module | what |
|---|---|
| `subject` | a level that can be searched by its choices alone, of a connected game or of the catalog |
| `run` | `run`, one search, with the tree and the growth of the best score |
| `design` | an experiment: variants x players x replicates, with what each of them changes |
| `files` | the TOML file of an experiment, every fault with its place; a commented one to start from |
| `job` | all searches, each written down as soon as it is made |
| `results` | growth curves, tests and what they say |
"""
