"""Every error the app raises.

RagAppError
├── SettingsError
├── RuntimeNotStartedError
├── ServeError
├── NotFoundError
├── DatabaseError
│   ├── ServerStartError
│   └── DatabaseUnavailableError     retryable
├── IngestionError
│   ├── UnsupportedSourceError
│   ├── MissingDependencyError
│   ├── SourceUnavailableError       retryable
│   ├── ForbiddenAddressError
│   └── EmptyContentError
├── ProviderError
│   ├── ProviderUnavailableError     retryable
│   │   └── ProviderBusyError
│   ├── ProviderRefusedError
│   └── ContextTooLongError
└── EvaluationSetError

A message is one sentence a person can read: what happened, to which thing, and what to do.
"""

from typing import ClassVar


class RagAppError(Exception):
    """Something went wrong in Pincite."""

    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__)


class SettingsError(RagAppError):
    """A setting has a value that cannot be used."""


class RuntimeNotStartedError(RagAppError):
    """The app is not running in this process: start it with `python -m rag_app serve`."""


class ServeError(RagAppError):
    """Pincite could not be served."""


class NotFoundError(RagAppError):
    """There is no such thing in this workspace."""


class DatabaseError(RagAppError):
    """The database could not be used."""


class ServerStartError(DatabaseError):
    """The embedded PostgreSQL server did not start."""


class DatabaseUnavailableError(DatabaseError):
    """The database does not answer; it may be starting again."""

    retryable = True


class IngestionError(RagAppError):
    """The document could not be taken in."""


class UnsupportedSourceError(IngestionError):
    """This kind of source cannot be read."""


class MissingDependencyError(IngestionError):
    """Something this source needs is not installed."""


class SourceUnavailableError(IngestionError):
    """The source did not answer; it may answer later."""

    retryable = True


class ForbiddenAddressError(IngestionError):
    """The address leads into a private network, where Pincite does not go."""


class EmptyContentError(IngestionError):
    """The source holds no text."""


class ProviderError(RagAppError):
    """The language model could not be used."""


class ProviderUnavailableError(ProviderError):
    """The language model did not answer; it may answer later."""

    retryable = True


class ProviderBusyError(ProviderUnavailableError):
    """The language model is busy; it may answer later."""

    def __init__(self, message: str | None = None, *, retry_after_seconds: float = 0) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class ProviderRefusedError(ProviderError):
    """The language model refused: check the key and the quota."""


class ContextTooLongError(ProviderError):
    """The question and its context are too long for this model."""


class EvaluationSetError(RagAppError):
    """The set of questions could not be read."""
