// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The result of `SubscriptionAlignment`: several subscriptions whose feeds have all reached one
/// version.
///
/// A stream, a poll or a registration begins at this version. While the value is held, the version
/// stays readable, so that snapshots of it can be written.
package struct AlignedSubscriptions: Sendable {
    /// The version that all subscriptions have reached.
    package let version: Version
    /// The rows of each subscription at that version, by the index of the subscription; nil where
    /// the caller did not want them.
    let contents: [ObservedContents?]
}
