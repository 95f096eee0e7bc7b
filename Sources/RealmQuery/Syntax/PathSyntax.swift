// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A key path: a name or a key path argument, and the names and indexes after it.
///
/// Nothing is resolved yet: whether a name is a property, a link or the key of a dictionary depends on the schema.
struct PathSyntax: Sendable {
    /// One element of a key path: a name, an index, a wildcard or a backlink.
    enum Element: Sendable {
        /// A name after a dot, or a string in brackets; the two mean the same.
        case key(String)
        /// A zero-based index in brackets; `FIRST` is 0.
        case index(Int)
        /// The index `[LAST]`: the last element of a list.
        case last
        /// The wildcard `[*]`: every element of a collection.
        case all
        /// `[$n]`: an argument that is an index or a key.
        case argument(Int)
        /// `@links.Class.property`: the objects of a class whose property links to the current object.
        case backlink(className: String, property: String)
        /// `@links` at the end of a path, or with a class but no property after it.
        case incompleteBacklink(className: String?)
    }

    /// The number of the key path argument that the path starts with; nil when it starts with a name.
    let argument: Int?
    /// The elements of the path, without the key path argument with which it may start.
    let elements: [Element]
    /// The bytes of the query text that the path covers.
    let range: Range<Int>
}
