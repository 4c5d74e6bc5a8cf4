"""`waybench generate`: instances as JSON lines."""

import click

from waybench.cli._choice import environment_named, source_of
from waybench.cli._output import dumps, lines
from waybench.cli._params import OUTPUT, item_parameters


@click.command()
@click.argument("env")
@item_parameters
@click.option("--count", type=click.IntRange(min=0), default=10, show_default=True, help="Number of items.")
@click.option("--start", type=click.IntRange(min=0), default=0, show_default=True, help="Number of the first item.")
@click.option("--out", type=OUTPUT, help="File to write.  [default: standard output]")
def generate(
    env: str, key: str | None, level: int | None, settings: tuple[str, ...], count: int, start: int, out: str | None
) -> None:
    """Print instances of ENV (an environment or its family) as JSON lines, each with the proof of its solution.

    With a list of "replies" added, each line is one that `waybench score` takes. `waybench list ENV` names the
    options of -S.
    """
    environment = environment_named(env)
    source = source_of(environment, key, level, settings)
    if source.space is not None and start + count > source.space:
        what = f"level {environment.smallest_level if level is None else level}"
        click.echo(f"Warning: {what} holds only {source.space} different items; beyond these they repeat", err=True)
    with lines(out) as write:
        for index in range(start, start + count):
            item = source.item(index)
            line = {
                "env": environment.id,
                "version": environment.version,
                "id": item.id,
                "level": item.level,
                "key": item.key,
                "index": item.index,
                "instance": item.instance.to_json(),
                "hash": item.instance.hash,
                "proof": dict(item.proof),
            }
            write(dumps(line))
