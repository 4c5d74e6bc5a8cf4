"""Files of the repository itself: workflows, forms, citation, container, hooks."""

import fnmatch
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import PATIENCE
from waybench import __version__
from waybench.results.papers import PAPERS, find_paper

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
# The only rights to write, by workflow and job: what the job is for cannot be done with less.
WRITES = {
    ("docs.yml", "deploy"): {"pages", "id-token"},
    ("release.yml", "attest"): {"id-token", "attestations"},
    ("release.yml", "publish"): {"id-token"},
}
BIN = Path(sys.executable).parent


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_workflows_for_tests_documentation_releases_and_newest_dependencies() -> None:
    assert {path.name for path in WORKFLOWS} == {"tests.yml", "docs.yml", "release.yml", "newest.yml"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_the_least_rights_and_no_secrets(path: Path) -> None:
    text, workflow = path.read_text(encoding="utf-8"), read(path)
    assert not re.search(r"secrets\b|password:|(?<!id-)token:", text)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        writes = {right for right, level in job.get("permissions", {}).items() if level != "read"}
        assert writes == WRITES.get((path.name, name), set())
        assert job["timeout-minutes"] <= 120
    for action in re.findall(r"uses: (.*)", text):
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_what_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    commands = [step["run"] for job in read(path)["jobs"].values() for step in job["steps"] if "run" in step]
    for command in commands:
        program, *arguments = shlex.split(command)
        if program == "make":
            assert {argument for argument in arguments if "=" not in argument} <= targets
        else:
            assert program == "test" or (ROOT / program).is_file()


@pytest.mark.parametrize(("bounds", "requirement"), [("within", '"numpy>=2.4,<3"'), ("beyond", '"numpy>=2.4"')])
def test_newest_dependencies_are_tried_in_a_copy(bounds: str, requirement: str, tmp_path: Path) -> None:
    program, project = tmp_path / ".ci" / "newest", tmp_path / "pyproject.toml"
    program.parent.mkdir()
    program.write_bytes((ROOT / ".ci" / "newest").read_bytes())
    program.chmod(0o755)
    project.write_text('dependencies = [\n  "numpy>=2.4,<3",\n]\n', encoding="utf-8")
    (tmp_path / "constraints").mkdir()
    pins = tmp_path / "constraints" / "base.txt"
    pins.write_text("numpy==2.4.0\n", encoding="utf-8")
    lock = "lock:\n\t@echo 'numpy==2.5.0 \\' > constraints/base.txt; echo lock $(LOCK)\n"
    (tmp_path / "Makefile").write_text(lock, encoding="utf-8")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x"]
    for command in ([*git, "init", "-q"], [*git, "add", "."], [*git, "commit", "-q", "-m", "x"]):
        subprocess.run(command, cwd=tmp_path, check=True, timeout=PATIENCE)
    command = [program, bounds, "sh", "-c", "cat pyproject.toml; exit 3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 3 and done.stderr == ""
    first, *middle, last = done.stdout.splitlines()
    assert first == "lock --upgrade" and "  +numpy==2.5.0" in middle and f"  {requirement}," in middle and last == "]"
    assert pins.read_text(encoding="utf-8") == "numpy==2.4.0\n"
    assert "<3" in project.read_text(encoding="utf-8")


def test_the_fast_tests_run_on_every_supported_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    supported = [found[1] for line in project["classifiers"] if (found := re.fullmatch(r".*:: (3\.\d+)", line))]
    workflow = read(ROOT / ".github" / "workflows" / "tests.yml")
    assert workflow["jobs"]["fast"]["strategy"]["matrix"]["python"] == supported


def test_the_citation_is_of_this_version_and_names_the_five_papers() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == __version__
    assert f"version = {{{__version__}}}" in (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    assert len(citation["references"]) == len(PAPERS) == 5
    cited = {one["value"] for reference in citation["references"] for one in reference.get("identifiers", ())}
    sources = [find_paper(name).source for name in PAPERS]
    published = {re.sub(r"v\d+$", "", source) for source in sources if source.startswith("arXiv:")}
    assert cited == published and len(cited) == 3
    for name in PAPERS:
        paper = find_paper(name)
        reference = next(
            one for one in citation["references"] if one["title"].lower().split(":") == paper.title.lower().split(":")
        )
        names = (f"{one.get('family-names')}, {one.get('given-names')}" for one in reference["authors"])
        assert paper.authors == (tuple(names) if paper.authors else ())
        assert reference.get("year") == paper.year


def test_hooks_run_the_tools_of_the_environment() -> None:
    hooks = [hook for repo in read(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert {hook["id"] for hook in hooks} == {"ruff-format", "ruff-check", "pyright"}
    for hook in hooks:
        program = next(word for word in shlex.split(hook["entry"]) if word.startswith(".venv/bin/"))
        assert (BIN / Path(program).name).is_file()


def instructions() -> list[list[str]]:
    text = re.sub(r"\\\n", " ", (ROOT / "Containerfile").read_text(encoding="utf-8"))
    return [line.split(maxsplit=1) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def test_the_container_runs_the_demonstration_and_not_as_root() -> None:
    last = dict(instructions())
    assert last["ENTRYPOINT"] == '["waybench"]'
    assert last["CMD"].startswith('["demo"')
    assert last["USER"] == "waybench"
    installs = [rest for name, rest in instructions() if name == "RUN" and "pip install" in rest]
    assert len(installs) == 3
    # What is pinned is complete: pip would look at newer versions, too, and refuse them for their missing hashes.
    assert all("--no-deps" in rest for rest in installs)
    assert sum("--require-hashes" in rest for rest in installs) == 2


def test_the_container_gets_the_files_that_it_copies() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    kept = [pattern[1:] for pattern in ignored if pattern.startswith("!")]
    assert "*" in ignored
    copied = [rest.split()[:-1] for name, rest in instructions() if name == "COPY" and "--from" not in rest]
    sources = [source for line in copied for source in line]
    assert len(sources) >= 6
    for source in sources:
        assert (ROOT / source).exists()
        assert any(fnmatch.fnmatch(source, pattern) for pattern in kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("custom.github-workflows-require-timeout", WORKFLOWS),
        ("vendor.github-issue-forms", FORMS),
        ("vendor.github-issue-config", [ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"]),
        ("vendor.dependabot", [ROOT / ".github" / "dependabot.yml"]),
        ("vendor.citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_files_follow_their_schemas(schema: str, files: list[Path]) -> None:
    assert files
    run(BIN / "check-jsonschema", "--builtin-schema", schema, *files)


@pytest.mark.slow
def test_the_workflow_linter_finds_nothing() -> None:
    run(BIN / "zizmor", "--offline", "--strict-collection", "--persona=auditor", ROOT / ".github")


def run(*command: object) -> None:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
