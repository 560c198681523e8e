"""The harness: kills, damages, hostile frames and mutated inputs, run by `python -m tests.harness`.

A trial is one of them. All that is random in it comes from its part's name and its number, so that a finding can be
repeated by these two: `python -m tests.harness --only inputs --trial 4711`.
"""
