"""What compiled parts of the search are given, and the rows of numbers among it.

Names of the arguments used throughout:

| name | what |
|---|---|
| legal ... rollout | the functions of the game (`persona_evo.games.core.Rules`) |
| tables | the level |
| links, values, states, slots, keys | the tree |
| opts int64[OPTIONS], weights float64[1] | the settings as numbers; weights[0] is UCB1's C |
| counts int64[COUNTS], best float64[1] | what the search knows of itself, and the best utility seen (with open lists \
float64[3], see SEEKING) |
| best_moves int64[rollout] | the moves that lead from the best node on to the best state |
| uops, uconst / pops, pconst | postfix code of the utility / of the tree policy |
| fops | postfix code of the tree policy's parts, one after the other, with the constants `pconst` |
| scratch | a state; actions, played int64 rows; vars, stack float64 rows; utils float64[players] |
| seen float64[rollout + 1, metrics] | the metrics after each move of a rollout |
| marks int64[2, 2**k + 1] | the moves of an iteration (see `amaf`) |
| rng int64[2] | the search's stream |
"""

from __future__ import annotations

(HOLDS, FIRST_WIN, CUT_OFF, SHUFFLE, LENGTH, HORIZON, HASHED, MEAN, WATCH, PLAYERS, METRICS, USED, SALT, READS, SPREAD,
 KEPT, SHARED, AMAF, REACHING, CLOCK, FALLS, NOVEL_LISTS, SEEKING, THOROUGH,
 ENDS) = range(25)  # fmt: skip
MOST_KEPT = MOST_SHARED = 4
MOST_PARTS = MOST_KEPT + MOST_SHARED
OPTIONS = ENDS + MOST_PARTS
IS_UCB1 = 3
"""opts[HOLDS] is STATIC, ALONG_PATH or EVERY_TIME (see `tree_policy`), or IS_UCB1.

opts[READS] and opts[SPREAD] say whether `pops` reads metrics, and RSD. opts[KEPT] and opts[SHARED] are the numbers of
the formula's parts that are kept in a node's row, and that all children of a node share (see `coding`); in `fops`,
where those kept come first, part k ends before opts[ENDS + k]. In `vars` they follow the search's variables.
opts[AMAF] says whether nodes keep AN and AR (see `amaf`), which follow the parts in `vars`.
Of `open_lists`: opts[REACHING], whether the game says what can be reached; opts[CLOCK], the index of the metric that
counts moves, -1 without one; opts[FALLS], whether the utility falls with it; opts[NOVEL_LISTS], whether a list asks for
novelty; opts[SEEKING], what is looked for; opts[THOROUGH], whether random moves are made from all new leaves, not from
novel ones alone."""
BETTER, SHORTER, VARIETY = range(3)
"""opts[SEEKING]: a better plan than the best; a shorter one of equal worth; others that end in a state worth at least
best[1] after best[2] moves at most."""
PRUNE, MERGE = 1, 2
WATCH_ALL = 2

(NODES, ITERATIONS, BEST_NODE, BEST_LENGTH, BEST_WON, BEST_STEPS, PRUNED, WINNER, FULL, DEEPEST, HEAPED,
 OPENED, FACTS, TURN) = range(14)  # fmt: skip
COUNTS = 14
"""counts[HEAPED] and counts[OPENED]: how many open leaves wait, and which node is being expanded (`best_first`,
`open_lists`). counts[FACTS]: entries in the table of what was seen. counts[TURN]: the open list whose leaf
is being expanded."""

GOING_ON, WIN, EXHAUSTED, STUCK = range(4)
"""Why `mcts.search` returned: the iterations are used up; a selected node wins; nothing new is left; a policy that
never changes its mind selects a node that cannot be expanded."""

CEILING, WORTH = 0, 1
FIRST_SCORE = 4
"""Of `open_lists`: columns of `values`, and the first of `ranks` (the same memory as float32), which lies behind."""
