"""What guards the form: docs name what there is, tasks have functions, imports stay light."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rag_app.jobs import queue
from rag_app.runtime import worker_tasks

ROOT = Path(__file__).resolve().parents[2]
INTERNAL = {"PINCITE_", "PINCITE_SERVED"}  # the latter is for the processes of `serve`


def test_every_setting_stands_in_the_readme_and_nothing_else_does() -> None:
    sources = [*(ROOT / "rag_app").rglob("*.py"), ROOT / "rxconfig.py"]
    read = {
        name
        for path in sources
        for name in re.findall(r'["\'](PINCITE_[A-Z_]+|DATABASE_URL)["\']', path.read_text())
    }
    told = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE))

    assert told == read - INTERNAL


def test_every_task_of_the_queue_has_a_function_and_the_other_way_round() -> None:
    stand_in: Any = SimpleNamespace(
        settings=None,
        database=None,
        files=None,
        provider=SimpleNamespace(embedder=None),
        model_id=1,
        query=SimpleNamespace(count_tokens=len),
    )

    assert set(queue.TASKS) == set(worker_tasks(stand_in, stand_in))
    assert [task.name for task in queue.TASKS.values()] == list(queue.TASKS)


def test_importing_the_command_imports_nothing_slow() -> None:
    code = (
        "import sys, rag_app.cli, rag_app.runtime; "
        "print([m for m in ('litellm', 'playwright', 'onnxruntime', 'trafilatura', 'reflex') "
        "if m in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout

    assert printed.strip() == "[]"


def test_onnxruntime_reports_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import rag_app, numpy, onnxruntime; from onnx import helper, TensorProto as t; "
        "value = helper.make_tensor_value_info; "
        "graph = helper.make_graph([helper.make_node('Identity', ['x'], ['y'])], 'g', "
        "[value('x', t.FLOAT, [1])], [value('y', t.FLOAT, [1])]); "
        "model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], "
        "ir_version=9); "
        "session = onnxruntime.InferenceSession(model.SerializeToString()); "
        "print(session.run(None, {'x': numpy.ones(1, numpy.float32)}))"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)

    assert [path for path in tmp_path.rglob("*") if "icrosoft" in str(path)] == []
