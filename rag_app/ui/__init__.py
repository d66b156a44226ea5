"""The pages. Read `pages/chat.py`, then the components it names, then `state/chat_state.py`."""
