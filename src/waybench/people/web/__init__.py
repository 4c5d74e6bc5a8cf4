"""Several people in their browsers: a study of people on this machine's own address."""
