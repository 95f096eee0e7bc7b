// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The result of resolving a key path against a schema: what the path leads to.
enum ResolvedPath {
    /// The path ends with links, so it leads to objects.
    case links([LinkStep])
    /// A property of the objects that the links reach, and what the steps select in the collection
    /// it holds.
    case column(Column, of: Table, links: [LinkStep], steps: [PathStep])
    /// The path ends with `@links` alone: all incoming links of the objects that the links before
    /// it reach.
    case allBacklinks([LinkStep], of: Table)
}
