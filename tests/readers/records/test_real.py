"""Real tables of records give the reference matrices that were made independently."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from momentree.datasets import read_records

from .record_files import ALL, as_sets


def stored(file):
    """A stored matrix with its codes in the order of the alphabet."""
    X = sp.load_npz(file).tocsc()
    codes = (file.parent / f"codes{file.stem.removeprefix('X')}.txt").read_text().split()
    codes = [c.zfill(3) if c.isdigit() else c for c in codes]
    order = np.argsort(codes)
    return X[:, order].tocsr(), [codes[j] for j in order]


@pytest.mark.parametrize("options", [{}, {"code_columns": "DX*", "id_column": "visit_id"}])
def test_vermont(shared_data, options):
    folder = shared_data / "vermont_icd9"
    records = read_records(
        folder / "vermont_dx.csv.gz",
        rollup="icd9",
        min_records=1,
        outcome_columns="death",
        names=folder / "icd9cm_hierarchy.csv.gz",
        **options,
    )
    X, codes = stored(folder / "X_3digit.npz")
    assert (records.form, records.codes.tolist()) == ("slots", codes)
    assert abs(records.X - X).max() == 0
    assert records.title("250") == "250 Diabetes mellitus"
    assert records.outcomes["death"].sum() == 31


def test_mimic(shared_data):
    folder = shared_data / "mimic3_demo"
    options = {"code_columns": "ICD9_CODE", "id_column": "HADM_ID", **ALL}
    records = read_records(folder / "DIAGNOSES_ICD.csv", **options)
    order = np.argsort(records.ids)
    assert [records.ids[i] for i in order] == (folder / "hadm_id.txt").read_text().split()
    assert records.codes.tolist() == sorted((folder / "codes.txt").read_text().split())
    columns = np.argsort((folder / "codes.txt").read_text().split())
    assert abs(records.X[order] - sp.load_npz(folder / "X.npz")[:, columns]).max() == 0
    joined = read_records(folder / "DIAGNOSES_ICD.csv", union_by="SUBJECT_ID", **options)
    assert joined.X.shape == (100, 581)
    of_patient = pd.read_csv(folder / "DIAGNOSES_ICD.csv", dtype=str).groupby("SUBJECT_ID")
    expected = {name: set(group.ICD9_CODE) for name, group in of_patient}
    assert as_sets(joined) == expected


@pytest.mark.long
def test_diabetes(shared_data):
    folder = shared_data / "diabetes130"
    records = read_records(
        folder / "encounters.csv.gz",
        code_columns="diag_?",
        union_by="patient_nbr",
        rollup="icd9",
        min_records=1,
    )
    X, codes = stored(folder / "X_patient_3digit.npz")
    assert records.codes.tolist() == codes
    assert abs(records.X - X).max() == 0
