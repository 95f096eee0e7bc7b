// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Subscriptions that were brought to one version.
struct AlignedSubscriptions: Sendable {
    let version: Version
    /// The contents at that version by index of the subscription; nil where they were not wanted.
    let contents: [ObservedContents?]
}
