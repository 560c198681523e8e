"""Experiments: how much can a player, or a design, get out of a game?

| module | content |
|---|---|
| `subject` | a level that is searched by its choices alone, of a connected game or of the catalog |
| `run` | `run`: one search, with its tree and the growth of the best score |
| `design` | an experiment: variants x players x replicates, with what each of them changes |
| `files` | the TOML file of an experiment, whose errors name their place, and a commented template |
| `job` | runs all searches and stores each as soon as it is finished |
| `results` | growth curves, tests and conclusions |
"""
