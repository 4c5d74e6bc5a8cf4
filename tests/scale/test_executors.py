"""Executors: each job's result, whatever the engine."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, ROOT
from tests.scale.jobs import die, refuse, square, variable
from waybench.core import UsageError, WaybenchError
from waybench.ext.scale._executors import executor_by_name

RUN = ["run", "alicia", "aqa", "--model", "openai/a b", "--executor", "print", "--out", "s3://bucket/x"]


@pytest.mark.usefixtures("watchdog")
def test_processes_run_every_job_once_and_name_its_result() -> None:
    found = list(executor_by_name("processes:2").map(square, range(20)))
    assert sorted((index, result) for index, (result, _) in found) == [(n, n * n) for n in range(20)]
    assert os.getpid() not in {process for _, (_, process) in found}


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("value", ["first", "second"])
def test_processes_have_the_environment_of_their_time(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYBENCH_TEST", value)
    assert {found for _, found in executor_by_name("processes:2").map(variable, ["WAYBENCH_TEST"] * 4)} == {value}


def test_one_process_is_this_one() -> None:
    assert list(executor_by_name("processes:1").map(square, [4])) == [(0, (16, os.getpid()))]


@pytest.mark.usefixtures("watchdog")
def test_an_error_of_a_job_is_raised_as_it_is() -> None:
    with pytest.raises(UsageError, match="job 3 cannot be done"):
        list(executor_by_name("processes:2").map(refuse, range(20)))


@pytest.mark.usefixtures("watchdog")
def test_a_killed_process_is_one_line_that_says_what_to_do() -> None:
    with pytest.raises(WaybenchError, match=r"ended without a result.*run the same command again"):
        list(executor_by_name("processes:2").map(die, range(8)))


def test_shares_are_all_jobs_and_no_job_twice() -> None:
    found = [index for share in range(3) for index, _ in executor_by_name(f"job:{share}/3").map(square, range(10))]
    assert sorted(found) == list(range(10))
    assert not executor_by_name("job:0/3").is_whole


def test_a_slurm_array_runs_the_same_command_by_shares(capsys: pytest.CaptureFixture[str]) -> None:
    engine = executor_by_name("print", argv=RUN, gpus=2)
    assert list(engine.map(square, range(12))) == [] and not engine.is_whole
    script = capsys.readouterr().out
    assert "#SBATCH --array=0-11\n" in script and "#SBATCH --gpus=2\n" in script
    last = script.splitlines()[-1]
    # What a shell makes of the line, with the variable that Slurm sets.
    words = subprocess.run(
        ["sh", "-c", f'waybench() {{ printf "%s\\n" "$@"; }}; {last}'],
        env={"SLURM_ARRAY_TASK_ID": "7", "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert words == [*RUN[:5], "--out", "s3://bucket/x", "--executor", "job:7/12"]


def test_kubernetes_gets_an_indexed_job(capsys: pytest.CaptureFixture[str]) -> None:
    list(executor_by_name("print:kubernetes", argv=RUN, gpus=1).map(square, range(5000)))
    text = capsys.readouterr().out
    job = json.loads(re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    assert job["spec"]["completions"] == 1000  # each runs five
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"][-1].endswith('--executor "job:$JOB_COMPLETION_INDEX/1000"')
    assert container["resources"] == {"limits": {"nvidia.com/gpu": 1}}


@pytest.mark.parametrize("secret", ["api_key=sk-1234567890", "x=https://me:word@host/v1", "--url=https://me:w@host/v1"])
def test_a_printed_job_never_shows_a_secret(secret: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="environment"):
        executor_by_name("print", argv=["run", "-M", secret])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("slurm", {}, "choose from processes"),
        ("processes:0", {}, "N is a whole number from 1 to 9999"),
        ("job:3/3", {}, "numbered from 0"),
        ("processes", {"address": "auto"}, "--executor ray"),
        ("processes:2", {"gpus": 1}, "use --executor ray"),
    ],
)
def test_what_no_executor_takes_is_refused(name: str, given: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        executor_by_name(name, **given)  # pyright: ignore[reportArgumentType]


def test_ray_that_is_not_installed_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'waybench\[ray\]'"):
        executor_by_name("ray", address="auto")


@pytest.mark.usefixtures("watchdog")
def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    code = "import sys\nfrom waybench.ext.scale._executors import executor_by_name\nfrom tests.scale.jobs import note\n"
    code += "if __name__ == '__main__': list(executor_by_name('processes:2').map(note, [sys.argv[1]] * 2))"
    script = tmp_path / "parent.py"
    script.write_text(code)
    started = tmp_path / "started"
    started.mkdir()
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    parent = subprocess.Popen([sys.executable, str(script), str(started)], env={**os.environ, "PYTHONPATH": path})
    while len(list(started.iterdir())) < 2:
        assert parent.poll() is None
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    left = [int(each.name) for each in started.iterdir()]
    until = time.monotonic() + PATIENCE / 2
    while any(map(alive, left)):
        assert time.monotonic() < until
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
