// SPDX-License-Identifier: Apache-2.0

/// A reader of changes that waits for more: a stream of events, or a long poll.
///
/// `RealmNotifications` and the feeds keep their subscribers by this protocol, so what is said below holds for both kinds. None of
/// these functions may be called under a lock: they take the lock of the subscriber and call its connection.
protocol ChangeSubscriber: AnyObject, Sendable {
    /// The subscriptions that it reads.
    var reader: ChangeReader { get }

    /// Whether it is a stream, which goes on after it has delivered something.
    var isStream: Bool { get }

    /// Something may have been published since it last looked. Does what can be done at once, and returns the connection that has
    /// to be woken for the rest, so that the caller can wake many connections together.
    func notify() -> (any EventConnection)?

    /// Nothing more will be published. Delivers how it ends, and returns the connection that has to be woken for it.
    func end(_ cause: SubscriptionEnd) -> (any EventConnection)?
}

extension Collection where Element == any ChangeSubscriber {
    /// Notifies all of them, then wakes their connections together.
    func notify() { wake(compactMap { $0.notify() }) }

    /// Ends all of them, then wakes their connections together.
    func end(_ cause: SubscriptionEnd) { wake(compactMap { $0.end(cause) }) }

    private func wake(_ connections: [any EventConnection]) {
        if let first = connections.first { type(of: first).wake(connections) }
    }
}
