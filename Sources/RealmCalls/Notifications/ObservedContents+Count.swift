// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The number of rows of an observed definition.
extension ObservedContents {
    /// The number of rows or entries; nil for a single object and for a whole realm, and 0 when the
    /// observed object was deleted.
    var count: Int? {
        switch self {
        case .rows(_, let keys): return keys.count
        case .values(let count, _), .dictionary(let count): return count
        case .sections(_, let sections): return sections.reduce(0) { $0 + $1.rows.count }
        case .object, .realm: return nil
        case .gone: return 0
        }
    }
}
