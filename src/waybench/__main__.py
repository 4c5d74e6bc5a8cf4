"""`python -m waybench` is the command `waybench`."""

from waybench.cli import main

if __name__ == "__main__":  # not in the processes that this one starts, which import this module
    main()
