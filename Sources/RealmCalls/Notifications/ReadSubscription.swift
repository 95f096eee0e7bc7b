// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A subscription that a stream or a poll reads: a feed under the name that the client gave it.
///
/// A definition in a request has the name `default`; those of a registration have the names of their members. The code that makes
/// a value takes a hold on the feed and releases it.
package struct ReadSubscription: Sendable {
    /// The name of the subscription, which is the member `sub` of events.
    let name: String
    /// The feed that delivers the change sets of the subscription.
    package let feed: ChangeFeed
    /// The writes that the subscription is not notified of; nil for a definition in the request, which no write can name.
    let skips: SkippedVersions?

    package init(name: String, feed: ChangeFeed, skips: SkippedVersions?) {
        self.name = name
        self.feed = feed
        self.skips = skips
    }

    /// Whether a skipped write keeps the subscription from resuming from a position.
    func isLost(at position: UInt64) -> Bool { skips?.isLost(at: position) ?? false }
}
