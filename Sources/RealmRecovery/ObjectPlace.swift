// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// An object by the key of its table and its own.
struct ObjectPlace: Hashable {
    /// The key of the table.
    let table: UInt32
    let key: Int64
}
