// SPDX-License-Identifier: Apache-2.0

/// The role of a table.
package enum TableKind: Int, Sendable, Hashable {
    case topLevel = 0
    case embedded = 1
    case asymmetric = 2
}
