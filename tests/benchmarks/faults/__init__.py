"""Levels with one planted fault each, look-alikes without a fault, and sound levels, all proven without the product.

Proofs use the rules of the games (what is legal, what a move does, when a game is over) and searches of this package.
Nothing here imports an analysis or a finding of the product: it is what is judged.

| module | what is in it |
|---|---|
| `cases.py` | what a case is: levels, the fault, and what has to be said |
| `exploring.py` | searches through the states of a game |
| `boards.py` | boards of MiniDungeons 2: ways, cuts, the least damage |
| `dungeons.py` | sound levels of MiniDungeons 2 out of a seed, and the proof that they are sound |
| `planted.py` | faults of MiniDungeons 2 |
| `alike.py` | what looks like a fault of MiniDungeons 2 and is none |
| `vault.py`, `trail.py` | two games as Python classes |
| `class_cases.py` | cases of these two |
| `seeded_cases.py` | cases of the games whose levels are seeds |
| `by_hand.py` | levels with faults of other kinds, drawn by hand |
| `claims.py` | whether what a finding says of a level is true |
| `diagnosis.py` | runs the product and reads its findings |
| `scores.py` | what counts as found, what counts as false, and the table |

Puyo-Puyo and Colosseum Survival! take no part. Their boards hold no objects to collect, no way to go and no exit, and
a position that is bad for one player of Colosseum is good for the other, so nothing in a level can be called a fault.
"""
