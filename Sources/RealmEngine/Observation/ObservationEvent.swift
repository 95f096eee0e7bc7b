// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// What became of a target between two versions.
package struct ObservationEvent: Sendable {
    /// Old values are read from it.
    package let from: Version
    /// New values are read from it.
    package let to: Version
    /// What is different.
    package let change: ObservedChange
}
