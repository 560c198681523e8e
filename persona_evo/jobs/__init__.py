"""Jobs that can be interrupted at any moment and resumed.

| module | what it holds |
|---|---|
| `folder` | the folder of a job: its configuration, compared with what is asked for, and its lock |
| `journal` | the file of its results: append and read, with a checksum for each line |
| `runner` | results taken from workers, written, and reported; independent jobs until a deadline |
| `dispatch` | many short jobs: which is next, how many go together, results in their order |
| `workers` | processes and threads of this machine, Dask, Ray |
| `cache` | what a worker keeps from job to job |
| `progress` | how far a job is, and the seconds to go |
| `files` | atomic writes, appends that survive a crash, reads of regular files alone |
| `json_text`, `schema`, `checksum` | JSON and its places, values checked with their places, checksums |
| `lock` | one process for one folder |

What every kind of job promises; `tests/jobs/test_contract.py` runs the same tests for each kind:

- Whatever kills the process, resuming comes to the same results as a job that was never stopped.
- The number of workers and their backend change no result.
- Two processes never write into one folder.
- A folder is not resumed with another configuration; the message lists the differences and what to do.
- Damage is reported with file and line, and nothing is changed. A torn last line is no damage.
- Folders of earlier versions, which have no checksums, can be resumed.
"""
