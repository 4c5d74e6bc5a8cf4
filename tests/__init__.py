"""The tests; `python -m tests.playthroughs` writes the golden transcripts again."""
