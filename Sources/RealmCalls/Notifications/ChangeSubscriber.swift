// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A reader of changes that waits for more: a stream of events, or a long poll.
///
/// `RealmNotifications` and the feeds hold their subscribers through this protocol. None of its functions may be called under a
/// lock: they take the lock of the subscriber and call its connection.
protocol ChangeSubscriber: AnyObject, Sendable {
    /// Reads the change sets of the subscriptions that the stream or poll is about.
    var reader: ChangeReader { get }

    /// Whether it is a stream, which continues after a delivery, rather than a poll, which is answered once.
    var isStream: Bool { get }

    /// The principal of the reader and its rights. When these are no longer in force, delivery stops.
    var standing: Standing { get }

    /// Notifies the subscriber that a change may have been published since it last checked.
    ///
    /// It does work that needs no wait.
    ///
    /// - Returns: The connection to wake for the rest, so that the caller can wake many connections
    ///   together; nil when there is none.
    func notify() -> (any EventConnection)?

    /// Ends the subscriber, because nothing more will be published for it.
    ///
    /// - Parameter cause: The reason for the end, which the client gets.
    /// - Returns: The connection to wake for the last event; nil when there is none.
    func end(_ cause: SubscriptionEnd) -> (any EventConnection)?
}

/// Calls to several subscribers, whose connections are woken some hundred at a time: one call of the
/// server instead of many, while those that were woken before are sent to already.
extension Array where Element == any ChangeSubscriber {
    /// Notifies all of them, and wakes their connections.
    func notify() { wakeEach { $0.notify() } }

    /// Ends all of them, and wakes their connections.
    ///
    /// - Parameter cause: The reason for the end.
    func end(_ cause: SubscriptionEnd) { wakeEach { $0.end(cause) } }

    /// Calls all of them, and wakes the connections that they return, which all belong to one server.
    private func wakeEach(_ call: (any ChangeSubscriber) -> (any EventConnection)?) {
        var start = startIndex
        while start < endIndex {
            let end = Swift.min(start + 256, endIndex)
            let connections = self[start..<end].compactMap(call)
            if let first = connections.first { type(of: first).wake(connections) }
            start = end
        }
    }
}

/// The reason why the server ends streams and polls.
enum SubscriptionEnd: Sendable {
    /// The server is stopping. Clients reconnect to the next one.
    case shutdown
    /// The realm was detached, or cannot be served at present because of the given problem. Without
    /// a problem there is nothing to come back to.
    case realmClosed(Problem?)
    /// The registration that the stream or poll reads was deleted.
    case registrationDeleted
    /// The credential of the client is no longer valid.
    case unauthenticated
}
