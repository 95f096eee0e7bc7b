// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A clause after the predicate that reorders or prunes the list of matches.
enum DescriptorSyntax: Sendable {
    /// A path to sort by, with its direction.
    struct SortKey: Sendable {
        /// The path to the value that objects are ordered by.
        let path: PathSyntax
        /// Whether smaller values come first.
        let isAscending: Bool
    }

    /// `SORT`: the first key decides, the others decide between equal values.
    case sort([SortKey])
    /// `DISTINCT`: keeps the first object for each combination of the values at these paths.
    case distinct([PathSyntax])
    /// `LIMIT`: keeps the first so many objects, at least 0.
    case limit(Int)
}
