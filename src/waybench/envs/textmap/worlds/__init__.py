"""Generated maps of places, with their walkthroughs."""
