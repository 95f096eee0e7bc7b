// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A clause after the predicate that reorders or prunes the list of matches.
enum DescriptorSyntax: Sendable {
    /// A key path to sort by, with its direction.
    struct SortKey: Sendable {
        /// The key path to the value that decides about the order of two objects.
        let path: PathSyntax
        /// Whether objects with smaller values come first: `ASC` rather than `DESC`.
        let isAscending: Bool
    }

    /// `SORT`: the first key decides, the others decide between equal values.
    case sort([SortKey])
    /// `DISTINCT`: keeps the first object for each combination of the values at these paths.
    case distinct([PathSyntax])
    /// `LIMIT`: keeps the given number of objects from the start, which may be 0.
    case limit(Int)
}
