"""`python -m waybench` is the command `waybench`."""

from waybench.cli import main

main()
