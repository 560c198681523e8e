"""Evolution of tree policies: an island model over formulas.

| module | what it does |
|---|---|
| `settings` | every choice of the protocol as one frozen value, presets `paper` and `modern` |
| `genetics`, `operators` | random formulas, crossover and mutation on DEAP's trees, with random streams of our own |
| `selection` | who may breed |
| `duplicates` | which formulas behave alike, and a bounded memory of what was evaluated |
| `hall` | the best of a run, small ones beside good ones |
| `islands` | the loop, as a generator of generations; the evaluation is handed in |
| `racing`, `tuning` | generations that draw their levels and race, and the constants of what they found |
| `pools`, `training` | generated levels, solved; an evolution in memory for a number of playthroughs |
| `fitness`, `fitness_spec`, `parallel` | the evaluation: playthroughs, what decides them, on many cores |
| `run`, `driving`, `winner` | a run on disk: journal, checkpoints, deadlines, and the policy in the end |
| `sampled` | what is special about runs whose generations draw their levels |
| `schedule`, `rounds` | how the time is shared, and trials that are played until it is up |
| `comparison`, `rivals` | the winner beside UCB1 and the known policy, on levels it was not trained on |
| `explanation`, `simplification` | a formula in words, and a simplification that is made up for later |

Nothing is imported here, so that the package costs nothing until it is used.
"""
