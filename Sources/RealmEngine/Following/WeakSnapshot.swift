// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A reference to a snapshot that does not keep it, with which the copies that readers hold are counted.
struct WeakSnapshot: Sendable {
    /// The snapshot; nil when nothing else refers to it any more.
    private(set) weak var value: Snapshot?

    /// Refers to a snapshot.
    init(_ snapshot: Snapshot) { value = snapshot }
}
