// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What a key path leads to.
enum ResolvedPath {
    /// Objects: the path ends with links.
    case links([LinkStep])
    /// A property of the objects that the links reach, and what the steps select in the collection
    /// it holds.
    case column(Column, of: Table, links: [LinkStep], steps: [PathStep])
    /// All incoming links of the objects that the links reach.
    case allBacklinks([LinkStep], of: Table)
}
