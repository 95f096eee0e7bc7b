// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// The classes or properties of a realm are others.
package struct SchemaChange: Sendable, Equatable {
    /// Nil when the file has none.
    package let oldVersion: UInt64?
    /// The schema version now; nil when the file has none.
    package let newVersion: UInt64?
    /// Whether everything that was there still is.
    package let isAdditive: Bool
}
