// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A key path outside of a query: what it leads to from a class.
///
/// Callers use it to resolve the paths of other parts of a request against the schema of one snapshot.
package struct KeyPath {
    /// A link that a key path follows, from the objects of one class to those of another.
    package struct Link {
        /// The kind of property that holds the link; a backlink leads from the target of a link to the object that holds it.
        package enum Kind: Sendable { case link, list, set, dictionary, backlink }

        /// Whether the link is a property with one link, a collection of links, or a backlink.
        package let kind: Kind
        /// The link column of the class `source`, or its backlink column.
        package let column: Column
        /// The class of the objects that the link leads away from.
        package let source: Table
        /// The class of the objects that the link leads to.
        package let target: Table
        /// The single entry of a collection that the path names; nil when it follows all of them.
        package let entry: Entry?
    }

    /// A step of a key path into a collection.
    package enum Entry: Sendable, Equatable {
        /// Selects the element at a zero-based index of a list.
        case index(Int)
        /// Selects the last element of a list.
        case last
        /// Selects the entry of a dictionary that has this key.
        case key(String)
        /// Selects every element of a list, or every entry of a dictionary.
        case all
    }

    /// The links that the path follows, in the order of the path.
    package let links: [Link]
    /// The property with which the path ends; nil when it ends with a link.
    package let property: Column?
    /// The class of the property, or the class that the last link leads to.
    package let owner: Table
    /// The steps into the collection that the property holds, in order.
    package let entries: [Entry]

    /// Resolves the text of a key path.
    ///
    /// - Parameters:
    ///   - text: Names separated by dots, with `[0]`, `['key']` and `@links.Class.property`.
    ///   - table: The class at which the path starts.
    ///   - snapshot: The version that has the class.
    ///   - mapping: Aliases of properties and classes.
    /// - Returns: The links and the property that the path consists of.
    /// - Throws: `QueryError.syntax` when the text is not a path, and `.invalid` when a name does
    ///   not exist or does not fit.
    package static func resolve(
        _ text: String, from table: Table, in snapshot: Snapshot, mapping: KeyPathMapping = KeyPathMapping()
    ) throws(QueryError) -> KeyPath {
        let elements = try Parser.parsePath(text)
        var resolver = PathResolver(snapshot: snapshot, mapping: mapping, pool: ConstantPool())
        resolver.text = text
        switch try resolver.resolve(elements, from: table) {
        case .links(let steps):
            return KeyPath(
                links: steps.map { Link($0) }, property: nil, owner: steps.last?.target ?? table, entries: [])
        case .column(let column, let owner, let links, let steps):
            guard column.takes(steps) else {
                throw QueryError.invalid(
                    .unknownProperty,
                    detail: "'\(owner.className ?? owner.name).\(column.name)' has no element that the rest of '\(text)' names",
                    culprit: text, position: nil)
            }
            return KeyPath(
                links: links.map { Link($0) }, property: column, owner: owner, entries: steps.map { Entry($0) })
        case .allBacklinks:
            throw QueryError.invalid(
                .unknownProperty, detail: "a class and a property must follow @links", culprit: text, position: nil)
        }
    }
}

extension Column {
    /// Whether a path may continue with these steps after the property, given its type.
    fileprivate func takes(_ steps: [PathStep]) -> Bool {
        guard let first = steps.first else { return true }
        if steps.count > 1, type != .mixed { return false }
        switch (collection, first) {
        case (nil, _): return type == .mixed
        case (.list, .key), (.set, _), (.dictionary, .index), (.dictionary, .last): return false
        default: return true
        }
    }
}

extension KeyPath.Link {
    /// Converts a step that the resolver found to the form that callers use.
    init(_ step: LinkStep) {
        switch step.kind {
        case .link: kind = .link
        case .list: kind = .list
        case .set: kind = .set
        case .dictionary: kind = .dictionary
        case .backlink: kind = .backlink
        }
        column = step.column
        source = step.source
        target = step.target
        switch step.selector {
        case .all: entry = nil
        case .index(let index): entry = .index(index)
        case .last: entry = .last
        case .key(let key): entry = .key(key.string)
        }
    }
}

extension KeyPath.Entry {
    /// Converts a step into a collection to the form that callers use.
    init(_ step: PathStep) {
        switch step {
        case .key(let name, _): self = .key(name)
        case .index(let index): self = .index(index)
        case .last: self = .last
        case .all: self = .all
        }
    }
}

extension Parser {
    /// Parses a text that consists of one path.
    ///
    /// Names that a query would have to escape, because they are words of the language or contain
    /// spaces, are accepted as they are.
    ///
    /// - Returns: The elements of the path.
    /// - Throws: `QueryError.syntax`, with positions in `text`.
    static func parsePath(_ text: String) throws(QueryError) -> [PathSyntax.Element] {
        do throws(QueryError) {
            return try parseEscapedPath(text)
        } catch {
            let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard names.count <= Parser.maximumPathLength else { throw error }
            let isPlain = !names.contains("") && !text.utf8.contains { "[]()@$\\,'\"".utf8.contains($0) }
            guard isPlain else { throw error }
            return names.map { .key($0) }
        }
    }

    /// Parses a path in the notation of queries, in which special characters in names are escaped.
    private static func parseEscapedPath(_ text: String) throws(QueryError) -> [PathSyntax.Element] {
        var parser = try Parser(text)
        let path = try parser.parsePlainPath()
        guard parser.token.kind == .end, path.argument == nil else { throw parser.unexpected(["end of path"]) }
        return path.elements
    }
}
