# SPDX-License-Identifier: Apache-2.0
"""The notebooks are kept without outputs, and run from the first cell to the last."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.tensorflow

FOLDER = Path(__file__).resolve().parents[3] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def texts_of(cell):
    """What a cell has printed or shown as text."""
    for one in cell.get("outputs", []):
        yield one.get("text", "") or one.get("data", {}).get("text/plain", "")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_not_kept(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.timeout(300)  # a kernel, TensorFlow and two replicas start
def test_csv_to_keras_trains_plots_and_predicts(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "matplotlib"))
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
    notebook = nbformat.read(FOLDER / "csv_to_keras.ipynb", as_version=4)
    client = NotebookClient(notebook, timeout=100)
    client.execute(cwd=str(tmp_path))
    shown = [text for cell in notebook.cells for text in texts_of(cell)]
    pictures = [
        one
        for cell in notebook.cells
        for one in cell.get("outputs", [])
        if "image/png" in one.get("data", {})
    ]
    assert len(pictures) == 2
    (found,) = re.findall(r"off by (\d+) .* is off by (\d+)", "\n".join(shown))
    error, guess = map(int, found)
    assert error < guess / 3
