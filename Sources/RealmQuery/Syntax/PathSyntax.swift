// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A key path: a name or a key path argument and what follows it.
struct PathSyntax: Sendable {
    enum Element: Sendable {
        /// A name, or a string in brackets; the two mean the same.
        case key(String)
        case index(Int)
        case last
        case all
        /// `[$n]`
        case argument(Int)
        /// `@links.Class.property`
        case backlink(className: String, property: String)
        /// `@links`, at the end of a path, or with a class but no property behind it.
        case incompleteBacklink(className: String?)
    }

    /// The number of the key path argument that the path starts with.
    let argument: Int?
    let elements: [Element]
    let range: Range<Int>
}
