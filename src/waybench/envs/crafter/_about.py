"""What the documentation says of Crafter."""

ABOUT = """\
TODO
"""
