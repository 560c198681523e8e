"""Forward models and their levels.

`core` says what a game is, `registry` finds one by name, `mapsets` turns names of files, folders and sets into levels,
`catalog` holds the games that ship.
"""
