"""A live client for realm-rest: queries, writes, and lists that stay current."""

from .batch import Batch, Made
from .changes import ChangeSet, Modification
from .client import Server, connect
from .errors import (Conflict, ConnectionLost, Forbidden, Gone, Invalid, LiveEnded, NotFound, PreconditionFailed, Problem,
                     RealmRestError, RequestTimeout, Unauthenticated, Unavailable)
from .feed import Feed
from .follow import (DictChange, LiveDict, LiveObject, LiveSections, ObjectChange, PropertyChange, RealmChange, RealmChanges,
                     Section, SectionChange)
from .hub import Options
from .live import Live, LiveList
from .query import Page, Query
from .realm import Access, ObjectRef, Realm, Snapshot, Transaction
from .schema import Class, Property, Schema
from .values import Float32, Link, Object, ObjectId, RawText, Timestamp, same, string_key

__version__ = "0.1.0"

__all__ = [
    "Access", "Batch", "ChangeSet", "Class", "Conflict", "ConnectionLost", "DictChange", "Feed", "Float32", "Forbidden",
    "Gone", "Invalid", "Link", "Live", "LiveDict", "LiveEnded", "LiveList", "LiveObject", "LiveSections", "Made",
    "Modification", "NotFound", "Object", "ObjectChange", "ObjectId", "ObjectRef", "Options", "Page",
    "PreconditionFailed", "Problem", "Property", "PropertyChange", "Query", "RawText", "Realm", "RealmChange",
    "RealmChanges", "RealmRestError", "RequestTimeout", "Schema", "Section", "SectionChange", "Server", "Snapshot",
    "Timestamp", "Transaction", "Unauthenticated", "Unavailable", "connect", "same", "string_key",
]
