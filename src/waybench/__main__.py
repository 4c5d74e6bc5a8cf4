"""`python -m waybench` is the command `waybench`."""

from waybench.cli import main

if __name__ == "__main__":  # and not when a process that this one started looks at what it was started by
    main()
