// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Determines what a key path leads to, from left to right.
///
/// Copies of a resolver share the recorder and the pool; each copy has its own path text for messages.
struct PathResolver {
    /// The variable of a subquery. It represents the object itself in paths that start at its class.
    struct Variable: Hashable {
        /// The class of the objects that the subquery tests.
        let table: TableKey
        /// The name of the variable, with its dollar sign.
        let name: String
    }

    /// The version whose schema decides what names mean.
    let snapshot: Snapshot
    /// The aliases of properties and classes, which are replaced before a name is looked up.
    let mapping: KeyPathMapping
    /// Keeps the bytes of the dictionary keys in paths for as long as the bound query lives.
    let pool: ConstantPool
    /// Records which tables and columns the resolved paths read.
    var recorder = DependencyRecorder()
    /// The variables of the subqueries that enclose the path.
    var variables: Set<Variable> = []
    /// The text of the path, which error messages quote.
    var text = ""
    /// Whether the path is what an operator compares with, so that it may be a text without its quotes.
    var mayBeText = false
    /// The offset of the path in Unicode scalars of the query text; nil for a path outside of it.
    var position: Int?
    /// The check of the query, which limits the leaves that the readers of resolved keys keep, all of them together; nil for no limit but
    /// that of each reader.
    var cancellation: CancellationCheck?

    /// Follows the elements of a path.
    ///
    /// - Parameters:
    ///   - elements: The elements, in which arguments were replaced by their values.
    ///   - table: The class at which the path starts.
    /// - Returns: The resolved path.
    /// - Throws: `QueryError.invalid`, with the path as the culprit, when an element leads nowhere.
    func resolve(_ elements: [PathSyntax.Element], from table: Table) throws(QueryError) -> PathResolver.ResolvedPath {
        var links: [LinkStep] = []
        var current = table
        var index = 0
        while index < elements.count {
            switch elements[index] {
            case .incompleteBacklink(className: nil) where index == elements.count - 1:
                for column in current.backlinks { recorder.add(column, of: current) }
                return .allBacklinks(links, of: current)
            case .incompleteBacklink: throw unknown("a class and a property must follow @links")
            case .backlink(let className, let property):
                try appendBacklink(className, property, to: &links, &current)
            case .key(let name):
                switch try follow(name, &links, &current) {
                case .followed: break
                case .property(let column): return try end(column, of: elements, at: index, behind: links, in: current)
                case .nothing: return try column(of: elements, at: index, behind: links, in: current)
                }
            case .all:
                guard let last = links.last, !last.hasSelector else {
                    return try column(of: elements, at: index, behind: links, in: current)
                }
            case .index(let position):
                guard select(.index(position), of: .list, &links) else {
                    return try column(of: elements, at: index, behind: links, in: current)
                }
            case .last:
                guard select(.last, of: .list, &links) else {
                    return try column(of: elements, at: index, behind: links, in: current)
                }
            case .argument: throw unknown("an argument is not allowed here")
            }
            index += 1
        }
        return try end(links)
    }

    private enum Name {
        /// A link, or a part of one.
        case followed
        /// A property that is no link, with which the link part of the path has ended.
        case property(Column)
        /// Neither.
        case nothing
    }

    /// Consumes one name of a path.
    ///
    /// - Parameters:
    ///   - name: The name, which may be an alias, a variable, or the key of a dictionary of links.
    ///   - links: The links so far; a link that the name names is appended.
    ///   - current: The class reached so far, which changes with each link.
    /// - Returns: The meaning of the name.
    /// - Throws: `QueryError.invalid` when an alias forms a loop, or when `@values` does not follow
    ///   a dictionary.
    private func follow(_ name: String, _ links: inout [LinkStep], _ current: inout Table) throws(QueryError) -> Name {
        let translated = try translate(name, current)
        if translated.isEmpty { return .followed }
        if let (className, property) = PathResolver.backlinkParts(translated) {
            try appendBacklink(className, property, to: &links, &current)
            return .followed
        }
        if translated == "@values", !links.isEmpty {
            guard links.last?.kind == .dictionary else { throw structure("@values is only allowed after a dictionary") }
            return .followed
        }
        guard let column = current.column(named: translated) else {
            return select(.key(pool.keep(name.utf8)), of: .dictionary, &links) ? .followed : .nothing
        }
        guard column.type == .link else { return .property(column) }
        try appendLink(column, to: &links, &current)
        return .followed
    }

    /// Restricts the last link to one element, if it is a collection of a kind. Returns whether that was possible.
    private func select(_ selector: LinkStep.Selector, of kind: LinkStep.Kind, _ links: inout [LinkStep]) -> Bool {
        guard let last = links.last, last.kind == kind, !last.hasSelector else { return false }
        links[links.count - 1].selector = selector
        return true
    }

    /// Finishes a path whose last element is a link.
    ///
    /// - Throws: `QueryError.invalid` when the path is empty, or ends with an index into a list of
    ///   links.
    private func end(_ links: [LinkStep]) throws(QueryError) -> PathResolver.ResolvedPath {
        guard let last = links.last else { throw structure("the path names no property") }
        switch last.selector {
        case .all: return .links(links)
        case .key(let key):
            let step = PathStep.key(key.string, key)
            return .column(last.column, of: last.source, links: Array(links.dropLast()), steps: [step])
        case .index, .last:
            throw structure("'\(last.label)' does not support an index without a property after it")
        }
    }

    /// Finishes a path at an element that must name a property; the elements after it are steps into the property.
    ///
    /// - Parameters:
    ///   - index: The index of the element that must name the property.
    ///   - links: The links before it.
    ///   - table: The class that the links lead to.
    /// - Throws: `QueryError.invalid` when the class has no such property.
    private func column(
        of elements: [PathSyntax.Element], at index: Int, behind links: [LinkStep], in table: Table
    ) throws(QueryError) -> PathResolver.ResolvedPath {
        guard case .key(let name) = elements[index] else {
            throw structure("expected the name of a property in '\(text)', found an index")
        }
        let translated = try translate(name, table)
        guard let column = table.column(named: translated) else {
            throw unknownProperty(translated, of: table)
        }
        return try end(column, of: elements, at: index, behind: links, in: table)
    }

    /// Finishes a path at a property; the elements after it are steps into it.
    private func end(
        _ column: Column, of elements: [PathSyntax.Element], at index: Int, behind links: [LinkStep], in table: Table
    ) throws(QueryError) -> PathResolver.ResolvedPath {
        var steps: [PathStep] = []
        for element in elements[(index + 1)...] { steps.append(try step(element)) }
        recorder.add(column, of: table)
        if column.type == .mixed, !steps.isEmpty { recorder.addAnyTable() }
        return .column(column, of: table, links: links, steps: steps)
    }

    /// The step into a collection for an element after a property.
    private func step(_ element: PathSyntax.Element) throws(QueryError) -> PathStep {
        switch element {
        case .key(let name): return .key(name, pool.keep(name.utf8))
        case .index(let index): return .index(index)
        case .last: return .last
        case .all: return .all
        case .argument, .backlink, .incompleteBacklink:
            throw structure("in '\(text)', '@links' or a path argument follows a property that is not a link")
        }
    }

    // MARK: - Names

    /// Returns the persisted name for a public one; the empty string for the variable of a subquery.
    ///
    /// A name of linking objects that the version does not show stays as it is, so that it is
    /// unknown and no message has the names behind it.
    ///
    /// - Throws: `QueryError.invalid` when the aliases form a loop.
    func translate(_ name: String, _ table: Table) throws(QueryError) -> String {
        if variables.contains(Variable(table: table.key, name: name)) { return "" }
        let translated = try persistedName(name, of: table)
        guard let (className, property) = PathResolver.backlinkParts(translated) else { return translated }
        return try incomingLinks(className, property, to: table) == nil ? name : translated
    }

    /// Returns what a name of a property represents in a class: a persisted name or a backlink.
    ///
    /// - Throws: `QueryError.invalid` when the aliases form a loop.
    private func persistedName(_ name: String, of table: Table) throws(QueryError) -> String {
        guard let translated = mapping.property(name, of: table.className ?? table.name) else { throw loop(name) }
        return translated
    }

    /// Returns the persisted name of a class for a public one.
    ///
    /// - Throws: `QueryError.invalid` when the aliases form a loop.
    private func persistedName(ofClass name: String) throws(QueryError) -> String {
        guard let translated = mapping.className(name) else { throw loop(name) }
        return translated
    }

    /// The class and the property of an alias that represents a backlink; nil for other names.
    private static func backlinkParts(_ name: String) -> (className: String, property: String)? {
        guard let rest = name.dropping(prefix: "@links.") else { return nil }
        guard let dot = rest.firstIndex(of: ".") else { return (String(rest), "") }
        return (String(rest[..<dot]), String(rest[rest.index(after: dot)...]))
    }

    /// Follows a link column, and records that the path reads it.
    ///
    /// - Throws: `StorageError.corrupt` as a query error when the class that it leads to does not
    ///   exist.
    private func appendLink(_ column: Column, to links: inout [LinkStep], _ current: inout Table) throws(QueryError) {
        guard let key = column.targetTable, let target = snapshot.linkTarget(key) else {
            throw QueryError.storage(.corrupt(ref: .none, reason: "the links of '\(column.name)' point to no table"))
        }
        let kind: LinkStep.Kind
        switch column.collection {
        case nil: kind = .link
        case .list: kind = .list
        case .set: kind = .set
        case .dictionary: kind = .dictionary
        }
        links.append(LinkStep(kind: kind, column: column, source: current, target: target, label: column.name))
        recorder.add(column, of: current)
        recorder.add(target)
        current = target
    }

    /// Follows incoming links: those from `property` of the class `className`.
    ///
    /// - Throws: `QueryError.invalid` when there is no such link to the current class.
    private func appendBacklink(
        _ className: String, _ property: String, to links: inout [LinkStep], _ current: inout Table
    ) throws(QueryError) {
        let realName = try persistedName(ofClass: className)
        guard let (origin, column, backlink) = try incomingLinks(className, property, to: current) else {
            throw unknown(
                "no property '\(property)' found in type '\(realName)' which links to type '\(current.className ?? current.name)'"
                    + hint(forBacklink: realName, property, to: current)
            )
        }
        let label = "@links.\(realName).\(column.name)"
        links.append(LinkStep(kind: .backlink, column: backlink, source: current, target: origin, label: label))
        recorder.add(backlink, of: current)
        recorder.add(column, of: origin)
        current = origin
    }

    /// Returns the linking class, its link column and the backlink column of a class for its
    /// incoming links from a property; nil when the version shows no such link.
    ///
    /// - Throws: `QueryError.invalid` when the aliases form a loop.
    private func incomingLinks(
        _ className: String, _ property: String, to table: Table
    ) throws(QueryError) -> (origin: Table, column: Column, backlink: Column)? {
        guard let origin = snapshot.classTable(named: try persistedName(ofClass: className)),
            let column = origin.column(named: try persistedName(property, of: origin)), column.type == .link,
            column.targetTable == table.key,
            let backlink = table.backlinks.first(where: {
                $0.targetTable == origin.key && $0.oppositeColumn?.leafIndex == column.leafIndex
            })
        else { return nil }
        return (origin, column, backlink)
    }

    // MARK: - Errors

    /// Makes the error for a name that no property of a class has, with what was probably meant.
    func unknownProperty(_ name: String, of table: Table) -> QueryError {
        let className = table.className ?? table.name
        var hint = table.hint(for: name)
        if hint.isEmpty, name.lowercasedASCII == className.lowercasedASCII { hint = "; a path begins at a property of the class" }
        if mayBeText {
            let bare = String(name.filter { !QuotationMarks.contains($0) }).truncated
            hint = "; text goes in straight quotes: \"\(bare)\"" + hint
        }
        return unknown("'\(className)' has no property '\(name.truncated)'\(hint)")
    }

    /// Returns what was probably meant by incoming links that do not exist.
    private func hint(forBacklink className: String, _ property: String, to table: Table) -> String {
        guard let origin = snapshot.classTable(named: className) else {
            return Suggestion.hint(for: className, in: snapshot.classes.lazy.compactMap(\.className))
        }
        return Suggestion.hint(for: property, in: origin.columns.lazy.filter { $0.targetTable == table.key }.map(\.name))
    }

    /// Makes the error for an alias that represents itself.
    private func loop(_ name: String) -> QueryError {
        .invalid(.alias, detail: "the alias '\(name)' leads back to itself", culprit: text, position: position)
    }

    /// Makes the error for a path that names something that does not exist.
    private func unknown(_ detail: String) -> QueryError {
        .invalid(.unknownProperty, detail: detail, culprit: text, position: position)
    }

    /// Makes the error for a path whose parts do not fit together.
    private func structure(_ detail: String) -> QueryError {
        .invalid(.structure, detail: detail, culprit: text, position: position)
    }
}

extension PathResolver {
    /// The result of resolving a key path against a schema: what the path leads to.
    enum ResolvedPath {
        /// The path ends with links, so it leads to objects.
        case links([LinkStep])
        /// A property of the objects that the links reach, and what the steps select in the collection it holds.
        case column(Column, of: Table, links: [LinkStep], steps: [PathStep])
        /// The path ends with `@links` alone: all incoming links of the objects that the links before it reach.
        case allBacklinks([LinkStep], of: Table)
    }
}

extension Table {
    /// Names that primary keys have in other databases.
    private static let usualKeys: Set<ByteText> = ["id", "_id", "key", "pk", "uuid", "objectid", "rowid"]

    /// Returns the end of an error text about a name that no property of the class has: the property that was probably
    /// meant, or nothing.
    ///
    /// In a view for a principal the class has no other properties than the principal may see.
    ///
    /// - Parameters:
    ///   - name: The name as it was written.
    ///   - others: Other names that would have been accepted, such as those of linking objects.
    package func hint(for name: String, and others: [String] = []) -> String {
        let hint = Suggestion.hint(for: name, in: columns.map(\.name) + others)
        guard hint.isEmpty, Table.usualKeys.contains(name.lowercasedASCII), let primaryKey else { return hint }
        return "; did you mean '\(primaryKey.name)', the primary key?"
    }
}
