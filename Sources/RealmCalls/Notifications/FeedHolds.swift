// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The subscriptions that a stream, a poll or a registration reads, with a hold on the feed of each.
///
/// The holds are released once: at the end of the reader, or with this object. So they do not outlast a response that was never sent, or
/// a reply that was never begun. Any thread may use it.
package final class FeedHolds: Sendable {
    /// The subscriptions, in the order in which the client named them.
    package let subs: [ReadSubscription]
    /// The notifications of the realm that they are about.
    let notifications: RealmNotifications
    /// Whether the holds are not released yet.
    private let isHolding = Atomic<Bool>(true)

    /// Takes over the holds on the feeds of subscriptions.
    package init(_ subs: [ReadSubscription], in notifications: RealmNotifications) {
        self.subs = subs
        self.notifications = notifications
    }

    /// Releases the holds. Only the first call has an effect.
    package func release() {
        guard isHolding.exchange(false, ordering: .acquiringAndReleasing) else { return }
        for sub in subs { notifications.release(sub.feed) }
    }

    deinit { release() }
}
