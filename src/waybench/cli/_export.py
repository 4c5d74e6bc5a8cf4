"""`waybench export`: results in the formats of others."""

from pathlib import Path

import click

from waybench.cli._log_place import LogPlace
from waybench.cli._output import tell_skipped
from waybench.core import UsageError, plural

FORMATS = ("every-eval-ever", "huggingface", "inspect-catalogue", "citation")
_EXAMPLES = """\b
waybench export waybench-out --format every-eval-ever --organization "My lab" --out eee
waybench export waybench-out --format huggingface --dataset my-name/my-benchmark --out hub
waybench export waybench-out --format inspect-catalogue --repository https://... --commit 0123... --out register
waybench export waybench-out --format citation --out cite"""


@click.command(epilog=_EXAMPLES)
@click.argument("folders", nargs=-1, required=True, type=LogPlace(), metavar="DIR|URL|FILE...")
@click.option("--format", "form", required=True, type=click.Choice(FORMATS), help="Format of the files.")
@click.option("--out", "-o", required=True, type=click.Path(path_type=Path), help="Folder for the files.")
@click.option("--model", default="", metavar="NAME", help="Export this model alone.")
@click.option("--organization", metavar="NAME", help="Who provides the results (every-eval-ever).")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    default="third_party",
    show_default=True,
    help="Your relationship to the models (every-eval-ever).",
)
@click.option("--dataset", metavar="OWNER/NAME", help="The benchmark's data set on the Hub (huggingface).")
@click.option("--url", default="", metavar="URL", help="Where the evaluation can be read (huggingface).")
@click.option("--repository", metavar="URL", help="The repository that was run (inspect-catalogue).")
@click.option("--commit", metavar="SHA", help="The commit of it that was run (inspect-catalogue).")
@click.option("--maintainer", "maintainers", multiple=True, metavar="NAME", help="Who keeps the entry; repeatable.")
def export(
    folders: tuple[Path, ...],
    form: str,
    out: Path,
    model: str,
    organization: str | None,
    relationship: str,
    dataset: str | None,
    url: str,
    repository: str | None,
    commit: str | None,
    maintainers: tuple[str, ...],
) -> None:
    """Export the results of some runs in a format that others read.

    Every episode is simulated again first, as for a report; one that does not agree with its simulation is in no file.
    Searches for horizons are left out, since they choose their items by the results.

    every-eval-ever: one JSON file for each model, task and settings, and one line for each episode (schema 0.3).
    huggingface: `.eval_results` for the models' repositories, and `eval.yaml` for the benchmark's.
    inspect-catalogue: registration files of Inspect's catalogue of evaluations. citation: what to cite.
    """
    from waybench import exports
    from waybench.analysis.logs import Skipped

    needed = {
        "every-eval-ever": [("--organization", organization)],
        "huggingface": [("--dataset", dataset)],
        "inspect-catalogue": [("--repository", repository), ("--commit", commit)],
    }
    for flag, value in needed.get(form, ()):
        if not value:
            raise UsageError(f"--format {form} needs {flag}")
    skipped: list[Skipped] = []
    found = exports.read_results(folders, model, skipped.append)
    if form == "every-eval-ever":
        files = list(exports.every_eval_ever(found, organization=organization or "", relationship=relationship))
    elif form == "huggingface":
        files = [*exports.eval_results(found, dataset or "", url=url), exports.benchmark_file(found)]
    elif form == "inspect-catalogue":
        files = list(
            exports.catalogue_entries(found, repository=repository or "", commit=commit or "", maintainers=maintainers)
        )
    else:
        files = list(exports.citations(found))
    written = exports.write_files(out, files)
    tell_skipped(skipped)
    episodes = sum(len(one.episodes) for one in found)
    click.echo(f"export: {plural(len(written), 'file')} of {plural(episodes, 'episode')} in {out}")
