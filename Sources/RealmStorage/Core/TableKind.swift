// SPDX-License-Identifier: Apache-2.0

/// The role of a table.
package enum TableKind: Int, Sendable, Hashable {
    /// An ordinary class.
    case topLevel = 0
    /// A class whose objects live inside of others and go with them.
    case embedded = 1
    /// A class whose objects are sent to a server and never kept. Local realms have none with objects.
    case asymmetric = 2
}
