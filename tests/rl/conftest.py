collect_ignore = ["faces"]  # they run in environments of their own: see test_faces.py
