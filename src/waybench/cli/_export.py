"""`waybench export`: results in the formats of others."""

from pathlib import Path

import click

from waybench.cli._log_place import LogPlace
from waybench.cli._options import argument, option, with_parameters
from waybench.cli._output import tell_skipped
from waybench.core import UsageError, plural

FORMATS = ("every-eval-ever", "huggingface", "inspect-catalogue", "citation")
_EXAMPLES = """\b
waybench export waybench-out --format every-eval-ever --organization "My lab" --out eee
waybench export waybench-out --format huggingface --dataset my-name/my-benchmark --out hub
waybench export waybench-out --format inspect-catalogue --repository https://... --commit 0123... --out register
waybench export waybench-out --format citation --out cite"""


@click.command(epilog=_EXAMPLES)
@with_parameters
def export(
    folders: tuple[Path, ...] = argument("DIR|URL|FILE...", required=True, type=LogPlace()),
    form: str = option("Format of the files.", "--format", required=True, type=click.Choice(FORMATS)),
    out: Path = option("Folder for the files.", "--out", "-o", required=True),
    model: str = option("Export this model alone.", default="", metavar="NAME"),
    organization: str | None = option("Who provides the results (every-eval-ever).", metavar="NAME"),
    relationship: str = option(
        "Your relationship to the models (every-eval-ever).",
        type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
        default="third_party",
    ),
    dataset: str | None = option("The benchmark's data set on the Hub (huggingface).", metavar="OWNER/NAME"),
    url: str = option("Where the evaluation can be read (huggingface).", default="", metavar="URL"),
    repository: str | None = option("The repository that was run (inspect-catalogue).", metavar="URL"),
    commit: str | None = option("The commit of it that was run (inspect-catalogue).", metavar="SHA"),
    maintainers: tuple[str, ...] = option("Who keeps the entry; repeatable.", "--maintainer", metavar="NAME"),
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
