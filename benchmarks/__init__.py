"""Speed, memory and scale, each as a ratio to something else in the same run: `make bench`."""
