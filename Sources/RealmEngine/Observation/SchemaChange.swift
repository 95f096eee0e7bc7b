// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A change of the classes or properties of a realm, as listeners receive it.
package struct SchemaChange: Sendable, Equatable {
    /// The schema version before; nil when the file had none.
    package let oldVersion: UInt64?
    /// The schema version afterwards; nil when the file has none.
    package let newVersion: UInt64?
    /// Whether classes and properties were only added.
    package let isAdditive: Bool
}
