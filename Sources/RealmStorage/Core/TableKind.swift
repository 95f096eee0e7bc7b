// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The role of a table.
///
/// The kind decides who owns the objects of a table. It is stored in the two lowest bits of slot 12 of the table's top node.
/// Source: docs/format.md, "Tables".
package enum TableKind: Int, Sendable, Hashable {
    /// A class whose objects exist by themselves.
    case topLevel = 0
    /// A class whose objects belong to other objects and are deleted with them.
    case embedded = 1
    /// A class whose objects are sent to a server and not kept in the file.
    case asymmetric = 2
}
