// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Where a key path leads.
enum ResolvedPath {
    /// To objects: the path ends with a link.
    case links([LinkStep])
    /// To a property of the objects that the links reach, and from there into the collection it holds.
    case column(Column, of: Table, links: [LinkStep], steps: [PathStep])
    /// To all incoming links of the objects that the links reach.
    case allBacklinks([LinkStep], of: Table)
}
