"""Levels with one planted fault each, look-alikes without a fault, and sound levels, all proven without the product.

Proofs use the rules of the games (what is legal, what a move does, when a game is over) and searches of this package.
Nothing here imports an analysis or a finding of the product, which is what the benchmark judges.

| module | what it holds |
|---|---|
| `cases.py` | cases: levels, the fault, and the expected findings |
| `exploring.py` | searches through the states of a game |
| `boards.py` | boards of MiniDungeons 2: ways, cuts, the least damage |
| `dungeons.py` | sound levels of MiniDungeons 2 from a seed, and the proof that they are sound |
| `planted.py` | faults of MiniDungeons 2 |
| `alike.py` | look-alikes of faults in MiniDungeons 2 |
| `vault.py`, `trail.py` | two games as Python classes |
| `class_cases.py` | cases of these two |
| `seeded_cases.py` | cases of the games whose levels are seeds |
| `by_hand.py` | levels with faults of other kinds, drawn by hand |
| `claims.py` | checks whether a finding about a level is true |
| `diagnosis.py` | runs the product and reads its findings |
| `scores.py` | rules for found faults and false findings, and the table |

Puyo-Puyo and Colosseum Survival! take no part. Their boards hold no objects to collect, no way to go and no exit, and
a position that is bad for one player of Colosseum is good for the other, so nothing in a level can be called a fault.
"""
