"""A file for each paper with its benchmark as one literal Inspect task, which catalogues of evaluations can name.

A catalogue reads the file of a commit without running it: it holds exactly one function decorated as a task. Its
parameters are few; `waybench run` and `inspect eval waybench/TASK` have all of them.
"""
