// SPDX-License-Identifier: Apache-2.0

/// A reader of changes that waits for more: a stream of events, or a long poll.
///
/// `RealmNotifications` and the feeds hold their subscribers through this protocol. None of its
/// functions may be called under a lock: they take the lock of the subscriber and call its
/// connection.
protocol ChangeSubscriber: AnyObject, Sendable {
    /// Reads the change sets of the subscriptions that the stream or poll is about.
    var reader: ChangeReader { get }

    /// Whether it is a stream, which continues after a delivery, rather than a poll, which is
    /// answered once.
    var isStream: Bool { get }

    /// The principal that reads. When it is over, nothing more is delivered.
    var principal: Principal { get }

    /// Notifies the subscriber that a change may have been published since it last checked.
    ///
    /// It does what can be done at once.
    ///
    /// - Returns: The connection to wake for the rest, so that the caller can wake many connections
    ///   together; nil when there is none.
    func notify() -> (any EventConnection)?

    /// Ends the subscriber, because nothing more will be published for it.
    ///
    /// - Parameter cause: Why it ends, which the client is informed of.
    /// - Returns: The connection to wake for the last event; nil when there is none.
    func end(_ cause: SubscriptionEnd) -> (any EventConnection)?
}

/// Calls to several subscribers, whose connections are then woken together: one call of the daemon
/// instead of many.
extension Collection where Element == any ChangeSubscriber {
    /// Notifies all of them, then wakes their connections together.
    func notify() { wake(compactMap { $0.notify() }) }

    /// Ends all of them, then wakes their connections together.
    ///
    /// - Parameter cause: Why they end.
    func end(_ cause: SubscriptionEnd) { wake(compactMap { $0.end(cause) }) }

    /// Wakes connections together, which all belong to one server.
    private func wake(_ connections: [any EventConnection]) {
        if let first = connections.first { type(of: first).wake(connections) }
    }
}
