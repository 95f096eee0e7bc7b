// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A subscription as it is read: under a name, and perhaps as part of a registration.
struct ReadSubscription: Sendable {
    let name: String
    let channel: Channel
    /// Writes whose echo it does not want; nil in the simple form.
    let skips: SkippedVersions?
}
