"""Published experiments run again, from evolution to tables.

| module | what |
|---|---|
| `published` | the numbers of the publication, from a TOML file beside it |
| `settings` | protocol and budgets; the file that a reproduction's folder is known by |
| `course` | the runs and playtests in their order, each resumable |
| `results` | the publication's tables from playthroughs, and what they say about agreement |
| `cross` | policies under other utilities, on other maps, against more search |
| `keeping` | what the folder of a reproduction is for |
| `colosseum`, `colosseum_findings` | two students' agents for Colosseum Survival!: the matches, and what they say |
| `evolution` | what an evolved policy is worth beside other ways to come by one; a study of our own |
| `montecarlo` | the thesis on design variants and playstyles: its experiments, and what it says of them |
"""
