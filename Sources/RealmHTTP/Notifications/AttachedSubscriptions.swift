// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// Subscriptions brought to one version.
struct AttachedSubscriptions: Sendable {
    let version: Database.Version
    /// By index of the subscription; nil where nobody asked.
    let contents: [ObservedContents?]
}
