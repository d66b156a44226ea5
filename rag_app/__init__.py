"""Pincite: a library that answers questions and opens the place behind each statement.

Read in this order: `runtime.py`, `chat.py`, `query/pipeline.py`, `ingestion/pipeline.py`,
`models.py`.
"""

import os

# onnxruntime reports its use to its makers unless this is set before it is first imported
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
