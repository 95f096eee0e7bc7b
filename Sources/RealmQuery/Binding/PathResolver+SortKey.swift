// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension PathResolver {
    /// Resolves a path for sorting: to-one links, then a property with a single value, or one entry of a dictionary.
    ///
    /// - Parameters:
    ///   - table: The class at which the path starts.
    ///   - isAscending: Whether smaller values come first.
    /// - Returns: The key, whose label is the text of the path.
    /// - Throws: `QueryError.invalid` when a property does not exist, is a collection, or is
    ///   reached through a to-many link.
    func sortKey(
        _ elements: [PathSyntax.Element], from table: Table, isAscending: Bool
    ) throws(QueryError) -> SortKey {
        var links: [LinkStep] = []
        var current = table
        var found: (column: Column, table: Table)?
        var dictionaryKey: ByteView?
        for element in elements {
            guard case .key(let name) = element else { throw unsortable("'\(text)' does not lead to one value of each object") }
            let translated = try translate(name, current)
            if found?.column.collection == .dictionary {
                // Nothing can follow the key of a dictionary; another name takes its place.
                dictionaryKey = pool.keep(translated.utf8)
                continue
            }
            if let (column, owner) = found {
                links.append(try sortLink(column, owner))
                current = links[links.count - 1].target
            }
            let own = found == nil ? translated : try translate(name, current)
            guard let column = current.column(named: own) else {
                throw unknownProperty(own, of: current)
            }
            found = (column, current)
            recorder.add(column, of: current)
        }
        guard let (column, owner) = found else { throw unsortable("'\(text)' does not lead to one value of each object") }
        guard column.collection == nil || (column.collection == .dictionary && dictionaryKey != nil) else {
            throw unsortable("'\(text)' is a collection; a path to one value is expected")
        }
        return SortKey(
            column, of: owner, chain: LinkChain(links, cancellation), dictionaryKey: dictionaryKey, isAscending: isAscending,
            label: text, in: snapshot)
    }

    /// Resolves the path of a term `@distance(path, place)`: to-one links, the last of which leads to a location.
    ///
    /// - Parameters:
    ///   - table: The class at which the path starts.
    /// - Returns: The links, at least one.
    /// - Throws: `QueryError.invalid` when a property does not exist or is no link to one object, or when the last
    ///   one does not lead to locations.
    func locationLinks(_ elements: [PathSyntax.Element], from table: Table) throws(QueryError) -> [LinkStep] {
        var links: [LinkStep] = []
        for element in elements {
            guard case .key(let name) = element else {
                throw unsortable("'\(text)' does not lead to one location of each object")
            }
            let current = links.last?.target ?? table
            let own = try translate(name, current)
            guard let column = current.column(named: own) else {
                throw unknownProperty(own, of: current)
            }
            recorder.add(column, of: current)
            links.append(try sortLink(column, current))
        }
        guard let target = links.last?.target, LocationReader(target) != nil else {
            throw QueryError.invalid(
                .geospatial,
                detail: "'\(text)' is not a link to a location: expected an embedded class with 'type' and 'coordinates'",
                culprit: text, position: position)
        }
        for name in LocationReader.propertyNames {
            if let column = target.column(named: name) { recorder.add(column, of: target) }
        }
        return links
    }

    /// Makes the key for a term `@distance(path, place)`.
    ///
    /// - Parameters:
    ///   - table: The class at which its path starts.
    ///   - isAscending: Whether nearer objects come first.
    ///   - label: The text of the term.
    /// - Throws: `QueryError.invalid`, as `locationLinks(_:from:)`.
    func distanceKey(_ term: DistanceTerm, from table: Table, isAscending: Bool, label: String) throws(QueryError) -> SortKey {
        let links = try locationLinks(try Parser.parsePath(term.path), from: table)
        guard let last = links.last else { throw unsortable("'\(text)' does not lead to one location of each object") }
        return SortKey(
            last.column, of: last.target, chain: LinkChain(links, cancellation), dictionaryKey: nil, isAscending: isAscending,
            label: label, distances: DistanceReader(last.target, from: term.origin, cancellation), in: snapshot)
    }

    /// The step along a link to one object.
    ///
    /// - Throws: `QueryError.invalid` for every other property.
    private func sortLink(_ column: Column, _ table: Table) throws(QueryError) -> LinkStep {
        guard column.type == .link, column.collection == nil, let key = column.targetTable,
            let target = snapshot.linkTarget(key)
        else { throw unsortable("'\(column.name)' in '\(text)' is not a link to one object") }
        return LinkStep(kind: .link, column: column, source: table, target: target, label: column.name)
    }

    /// Makes the error for a path that cannot be sorted by.
    private func unsortable(_ detail: String) -> QueryError {
        .invalid(.structure, detail: detail, culprit: text, position: position)
    }
}
