"""What the documentation says of the search."""

ABOUT = """\
TODO
"""
