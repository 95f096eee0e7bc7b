"""What can go wrong: answers of the server, and answers that did not come."""

from __future__ import annotations

from typing import Any, Mapping


class RealmRestError(Exception):
    """The base of all errors of this package."""


class Problem(RealmRestError):
    """A problem document of the server (RFC 9457)."""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.body = dict(body)
        self.code = str(body.get("code", "unknown"))
        self.title = str(body.get("title", ""))
        self.detail = str(body.get("detail", ""))
        self.pointer: str | None = body.get("pointer")
        self.retry_after = retry_after
        super().__init__(f"{status} {self.code}: {self.detail or self.title}")

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return bool(self.body.get("retryable", self.status in (423, 429, 503)))

    @staticmethod
    def make(status: int, body: Mapping[str, Any], retry_after: float | None = None) -> Problem:
        """The problem as the narrowest class that fits its status."""
        return _CLASSES.get(status, Problem)(status, body, retry_after)


class Unauthenticated(Problem):
    """401: no credential, or one that is not valid."""


class Forbidden(Problem):
    """403: the credential does not allow this."""


class NotFound(Problem):
    """404: no such realm, class or object, or none that is visible."""


class Conflict(Problem):
    """409: the state of the realm does not allow this."""


class Gone(Problem):
    """410: a snapshot, transaction or registration is over."""


class PreconditionFailed(Problem):
    """412: the object is not as the writer believed."""

    @property
    def current(self) -> Mapping[str, Any] | None:
        """The object as it is now, as the server wrote it; None if there is none."""
        return self.body.get("current")


class Invalid(Problem):
    """400 or 422: the request does not fit the interface or the schema."""


class Unavailable(Problem):
    """423, 429 or 503: later, perhaps."""


class ConnectionLost(RealmRestError):
    """No complete answer came. Whether a write took place is not known."""


class RequestTimeout(ConnectionLost):
    """The answer did not come within the time-out."""


class LiveEnded(RealmRestError):
    """A live object cannot go on: its registration, realm or object is gone for good."""

    def __init__(self, reason: str, cause: Problem | None = None) -> None:
        self.reason = reason
        self.problem = cause
        super().__init__(reason if cause is None else f"{reason}: {cause}")


_CLASSES: dict[int, type[Problem]] = {
    400: Invalid, 401: Unauthenticated, 403: Forbidden, 404: NotFound, 409: Conflict, 410: Gone,
    412: PreconditionFailed, 422: Invalid, 423: Unavailable, 429: Unavailable, 503: Unavailable,
}
