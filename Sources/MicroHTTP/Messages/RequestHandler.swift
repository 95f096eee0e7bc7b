// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform

/// Answers the requests that the daemon receives. The server has one, `RequestDispatcher`; tests have others.
package protocol RequestHandler: Sendable {
    /// Makes the memo of a new connection, which all its requests have; nil for none.
    func makeMemo() -> (any ConnectionMemo)?
    /// Begins the task of a request whose head is complete. The daemon calls it on one of its threads; it does not wait.
    func begin(_ request: Request) -> any RequestTask
}

extension RequestHandler {
    /// Handlers that remember nothing of connections make no memo.
    package func makeMemo() -> (any ConnectionMemo)? { nil }
}

/// The memo of a handler about a connection, from request to request. The handler bounds its size.
package protocol ConnectionMemo: AnyObject, Sendable {}
