"""Jobs that can be interrupted at any moment and resumed.

| module | what it holds |
|---|---|
| `folder` | the folder of a job: its configuration, which is compared with the requested one, and its lock |
| `journal` | the file of its results: append and read, with a checksum for each line |
| `runner` | collection of results from workers; independent jobs with a deadline |
| `dispatch` | the order of many short jobs, their grouping, and their results in order |
| `workers` | processes and threads of this machine, Dask, Ray |
| `cache` | values that a worker keeps from job to job |
| `progress` | the progress of a job, and the remaining seconds |
| `files` | atomic writes, appends that survive a crash, reads of regular files only |
| `json_text`, `schema`, `checksum` | JSON and its places, values checked with their places, checksums |
| `lock` | one process for one folder |

Every kind of job gives these guarantees; `tests/jobs/test_contract.py` runs the same tests for each kind:

- Whatever kills the process, a resumed job has the same results as one that was never interrupted.
- The number of workers and their backend do not change results.
- Two processes never write into one folder.
- A folder is not resumed with another configuration; the message lists the differences and what to do.
- Damage is reported with file and line, and nothing is changed. A torn last line is not damage.
- Folders of earlier versions, which have no checksums, can be resumed.
"""
