"""The command on the workers of a Dask scheduler: the same outputs as in memory."""

import json

import pytest

from .conftest import invoke, make_documents

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402

from momentree.cli import stored  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries, about connections


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("cluster") / "documents.parquet"
    texts = [document["body"] for document in make_documents(160)]
    pq.write_table(pa.table({"body": texts}), path, row_group_size=30)
    return path


def made(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["made"]
    return content


@pytest.mark.parametrize("flat", [False, pytest.param(True, marks=pytest.mark.long)])
def test_outputs_are_those_in_memory(cluster, source, tmp_path, flat, monkeypatch):
    monkeypatch.setattr(stored, "SHOWN", 120)
    how = ["--flat", "-k", "4"] if flat else ["-k", "4"]
    # Patterns are read on the threads of this machine if there is no scheduler.
    address = [] if flat else ["--scheduler", cluster.scheduler_address]
    pattern = source.with_name("*.parquet") if flat else source

    def run(name, path, *more):
        files = [("--csv", "csv"), ("--json", "json"), ("--output", "html"), ("--save", "mt")]
        outputs = [part for o, suffix in files for part in (o, tmp_path / f"{name}.{suffix}")]
        done = invoke("topics", path, *how, *outputs, *more)
        assert done.exit_code == 0, done.stderr
        return done

    run("memory", source, "--search", "none", "--no-unique", "--passages", "none")
    done = run("cluster", pattern, *address)
    assert "as with --search none" in done.stderr
    table = (tmp_path / "cluster.csv").read_text(encoding="utf-8")
    assert table == (tmp_path / "memory.csv").read_text(encoding="utf-8")
    found, expected = made(tmp_path / "cluster.json"), made(tmp_path / "memory.json")
    assert {**found, "diagnostics": None} == {**expected, "diagnostics": None}
    page = (tmp_path / "cluster.html").read_text(encoding="utf-8")
    assert "sample of 120 of 160 documents" in page


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--phrases"], "--phrases cannot be used with --scheduler"),
        (["-k", "auto"], "give --groups 8 and --refine none"),
        (["--flat", "--model", "lda"], "give --groups 8 and --refine none"),
    ],
)
def test_options_that_need_all_documents_are_refused(source, more, said):
    done = invoke("topics", source, "--scheduler", "tcp://127.0.0.1:9", *more)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_other_files_and_a_scheduler_that_is_not_there(source, tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "PATIENCE", 0.2)
    done = invoke("topics", tmp_path, "--scheduler", "tcp://127.0.0.1:9")
    assert done.exit_code == 2
    assert "give a file, a pattern such as" in done.stderr
    output = tmp_path / "topics.csv"
    done = invoke("topics", source, "--scheduler", "tcp://127.0.0.1:9", "--csv", output)
    assert done.exit_code == 2
    assert "no scheduler of Dask answers at --scheduler tcp://127.0.0.1:9" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_scheduler_without_workers_or_with_other_versions(cluster, source, monkeypatch):
    monkeypatch.setattr(stored, "PATIENCE", 0.2)
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty:
        done = invoke("topics", source, "--scheduler", empty.scheduler_address)
        assert "has no workers after 0.2 seconds" in done.stderr
    monkeypatch.setattr(stored, "PATIENCE", 20)
    monkeypatch.setattr(stored, "_version", lambda: None)
    done = invoke("topics", source, "--scheduler", cluster.scheduler_address)
    assert done.exit_code == 2
    assert "but have none" in done.stderr
