"""Pincite: a library that answers questions and opens the place behind each statement.

Read in this order: `runtime.py`, `chat.py`, `query/pipeline.py`, `ingestion/pipeline.py`,
`models.py`.
"""
