// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A subscription that a client reads: a feed under the name that the client gave it.
struct ReadSubscription: Sendable {
    let name: String
    let feed: ChangeFeed
    /// The writes that it is not notified of; nil when it is no part of a registration.
    let skips: SkippedVersions?
}
