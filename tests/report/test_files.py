"""The folder that a site is written to: nothing is lost of what is somebody else's, and nothing old stays of ours."""

import json
from pathlib import Path

import pytest

from tests.analysis.episodes import played
from tests.analysis.searches import searched
from waybench.core import UsageError
from waybench.reporting import write_report
from waybench.reporting._files import LIST, SiteFolder


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def written(path: Path, *files: str) -> None:
    folder = SiteFolder(path)
    for name in files:
        folder.write(name, name)
    folder.finish()


def test_what_an_earlier_report_wrote_and_this_one_did_not_goes(tmp_path: Path) -> None:
    written(tmp_path, "index.html", "replays/a.html", "replays/b.html", "models/m.html")
    (tmp_path / "replays" / "mine.html").write_text("not of a report")
    (tmp_path / "notes.txt").write_text("neither")
    written(tmp_path, "index.html", "replays/b.html", "results/c.html")
    assert names(tmp_path) == {
        *("index.html", "replays/b.html", "results/c.html", LIST),
        *("replays/mine.html", "notes.txt"),
    }
    assert json.loads((tmp_path / LIST).read_text()) == ["index.html", "replays/b.html", "results/c.html"]
    written(tmp_path, "index.html")
    assert names(tmp_path) == {"index.html", LIST, "replays/mine.html", "notes.txt"}


def test_a_file_that_is_gone_already_is_no_error(tmp_path: Path) -> None:
    written(tmp_path, "replays/a.html", "replays/b.html")
    (tmp_path / "replays" / "a.html").unlink()
    (tmp_path / "replays" / "b.html").unlink()
    (tmp_path / "replays" / "b.html").mkdir()
    written(tmp_path, "index.html")
    assert names(tmp_path) == {"index.html", LIST}


OUTSIDE = [
    *("../precious.html", "replays/../../precious.html", "replays/../keep/x.html", "keep/x.html", "precious.html"),
    *("notes.txt", "index.html", "summary.json", "replays/../notes.txt", "replays//../notes.txt", "./notes.txt"),
    *("replays/.hidden", "replays/A.html", "replays/a\n.html", "replays/a.html\n", "replays/a/b.html", "replays"),
    *("replays/", "replays\\..\\notes.txt", "", ".", "..", "/etc/passwd", "assets/../notes.txt"),
]


def test_a_list_removes_nothing_but_files_of_the_site_s_own_folders(tmp_path: Path) -> None:
    out = tmp_path / "site"
    kept = ["notes.txt", "index.html", "summary.json", "keep/x.html", "replays/.hidden", "replays/A.html"]
    kept += ["replays/a\n.html", "replays/a.html\n", "replays/a/b.html"]
    for name in (*kept, "replays/old.html", "assets/old.js", "tasks/old.html"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(name)
    (tmp_path / "precious.html").write_text("x")
    listed = [*OUTSIDE, str(tmp_path / "precious.html"), 5, None, ["replays/old.html"], {}]
    (out / LIST).write_text(json.dumps([*listed, "replays/old.html", "assets/old.js", "tasks/old.html"]))
    SiteFolder(out).finish()
    assert names(tmp_path) == {"precious.html", f"site/{LIST}", *(f"site/{name}" for name in kept)}


@pytest.mark.parametrize(
    "text", ["", "{", "null", "5", '{"replays/a.html": 1}', '"replays/a.html"', "[" * 100_000, "\0\xff"]
)
def test_a_list_that_is_none_removes_nothing(tmp_path: Path, text: str) -> None:
    written(tmp_path, "replays/a.html")
    (tmp_path / LIST).write_bytes(text.encode("latin-1"))
    written(tmp_path, "index.html")
    assert names(tmp_path) == {"replays/a.html", "index.html", LIST}


def test_a_link_in_the_folder_is_removed_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "precious.html").write_text("x")
    out = tmp_path / "site"
    written(out, "replays/a.html")
    (out / "replays" / "a.html").unlink()
    (out / "replays" / "a.html").symlink_to(tmp_path / "precious.html")
    written(out, "index.html")
    assert names(tmp_path) == {"precious.html", "site/index.html", f"site/{LIST}"}


def test_text_and_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    folder = SiteFolder(tmp_path / "deep" / "site")
    folder.write("assets/a.css", "é\r\n\n")
    folder.write("data/b.bin", b"\0\xff")
    assert (tmp_path / "deep" / "site" / "assets" / "a.css").read_bytes() == "é\r\n\n".encode()
    assert (tmp_path / "deep" / "site" / "data" / "b.bin").read_bytes() == b"\0\xff"


def test_a_folder_that_cannot_be_made_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"\Acannot write the report to .*replays \(.*\): give another folder\Z"):
        SiteFolder(tmp_path / "file").write("replays/a.html", "")
    (tmp_path / "site" / "index.html").mkdir(parents=True)
    with pytest.raises(UsageError, match="Is a directory"):
        SiteFolder(tmp_path / "site").write("index.html", "")
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["index.html"]  # no scraps


def test_a_later_report_in_the_same_folder_leaves_no_page_behind(tmp_path: Path) -> None:
    write_report([*played("null", (5,)), *searched("oracle", "dfs")], tmp_path)
    for folder in ("models", "results", "replays", "tasks"):
        (tmp_path / folder / "mine.html").write_text("not of a report")
    before = names(tmp_path)
    write_report(played("oracle", (5,)), tmp_path)
    write_report(played("oracle", (5,)), tmp_path / "alone")
    mine = {f"{folder}/mine.html" for folder in ("models", "results", "replays", "tasks")}
    assert before - mine - names(tmp_path)
    assert {name for name in names(tmp_path) if not name.startswith("alone/")} - mine == names(tmp_path / "alone")
