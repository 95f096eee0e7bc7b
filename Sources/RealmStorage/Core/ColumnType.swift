// SPDX-License-Identifier: Apache-2.0

/// The type of a column or of the elements of its collections. Raw values are the numbers on disk.
///
/// Source: docs/format.md, "Type numbers".
package enum ColumnType: Int, Sendable, Hashable, CaseIterable {
    case int = 0
    case bool = 1
    case string = 2
    case binary = 4
    case mixed = 6
    case timestamp = 8
    case float = 9
    case double = 10
    case decimal = 11
    case link = 12
    case backlink = 14
    case objectID = 15
    case uuid = 17

    /// The number that formats below 24 may use for lists of links.
    static let historicLinkList = 13
}

extension ColumnType {
    /// The name of the type in dumps and messages.
    package var name: String {
        switch self {
        case .decimal: return "decimal128"
        case .objectID: return "objectId"
        default: return String(describing: self)
        }
    }
}
