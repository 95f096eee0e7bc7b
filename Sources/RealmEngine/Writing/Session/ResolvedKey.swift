// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A key, and what it means in a transaction. Good until something is changed.
///
/// A replacement needs to know whether there is an object, for conditions, before it is known whether the input is sound; this
/// way the key is looked up once for both.
package struct ResolvedKey: Sendable {
    /// The class that the key is for.
    let table: TableKey
    /// The key as it was given.
    let name: ObjectName
    /// The object that has the key; nil when there is none.
    package let place: ObjectPlace?
}
