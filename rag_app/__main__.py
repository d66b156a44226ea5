"""Lets `python -m rag_app` be the command."""

from rag_app.cli import main

if __name__ == "__main__":
    main()
