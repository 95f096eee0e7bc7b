// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The end of a round, published on the thread of the hub after the listeners were called.
package struct ObservationRound: Sendable {
    /// The version that all active targets are at.
    package let version: Version
}
