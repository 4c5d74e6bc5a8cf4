"""The gate: simulations of the whole path from records to the page, by what users can call alone.

`_bank` makes rows of as many models as a simulation needs from records of scripted players, `_designs` has the
simulations, the test modules their limits, and `python -m tests.gate` prints a table of all of them.
"""
