// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The change of a target between two versions, as the hub delivers it to listeners.
/// Both versions are kept in the file while the event is referenced.
package struct ObservationEvent: Sendable {
    /// The version before the change, from which old values are read.
    package let from: Version
    /// The version after the change, from which new values are read.
    package let to: Version
    /// The difference between the two states of the target.
    package let change: ObservedChange
    /// The memory in bytes that the observation takes after the change.
    package let byteCount: Int
}
