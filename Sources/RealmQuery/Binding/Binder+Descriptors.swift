// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// What happens to the matches of a predicate, in this order.
enum ResultStep {
    case sort([SortKey])
    case distinct([SortKey])
    case limit(Int)
}

extension Binder {
    /// The descriptors of a query, then those that a caller adds.
    func steps(_ descriptors: [DescriptorSyntax], _ order: ResultOrder) throws(QueryError) -> [ResultStep] {
        var steps = try steps(descriptors)
        if !order.sort.isEmpty {
            var keys: [SortKey] = []
            for key in order.sort { keys.append(try sortKey(text: key.path, isAscending: key.isAscending)) }
            BinderSteps.append(keys, to: &steps)
        }
        if !order.distinct.isEmpty {
            var keys: [SortKey] = []
            for path in order.distinct { keys.append(try sortKey(text: path, isAscending: true)) }
            steps.append(.distinct(keys))
        }
        return steps
    }

    /// A sort key from a path that does not stand in the query.
    private func sortKey(text path: String, isAscending: Bool) throws(QueryError) -> SortKey {
        var resolver = paths
        resolver.text = path
        resolver.position = nil
        return try resolver.sortKey(try Parser.parsePath(path), from: table, isAscending: isAscending)
    }

    private func steps(_ descriptors: [DescriptorSyntax]) throws(QueryError) -> [ResultStep] {
        var steps: [ResultStep] = []
        for descriptor in descriptors {
            switch descriptor {
            case .limit(let limit): steps.append(.limit(limit))
            case .distinct(let paths):
                var keys: [SortKey] = []
                for path in paths { keys.append(try sortKey(path, isAscending: true)) }
                steps.append(.distinct(keys))
            case .sort(let syntax):
                var keys: [SortKey] = []
                for key in syntax { keys.append(try sortKey(key.path, isAscending: key.isAscending)) }
                BinderSteps.append(keys, to: &steps)
            }
        }
        return steps
    }

    private func sortKey(_ path: PathSyntax, isAscending: Bool) throws(QueryError) -> SortKey {
        guard path.argument == nil else {
            throw invalid(.argument, "a key path argument cannot stand in a descriptor", path.range)
        }
        var resolver = paths
        resolver.text = source(path.range)
        resolver.position = position(path.range)
        return try resolver.sortKey(try elements(of: path), from: table, isAscending: isAscending)
    }
}

private enum BinderSteps {
    /// Two sorts in a row become one in which the later has priority.
    static func append(_ keys: [SortKey], to steps: inout [ResultStep]) {
        if case .sort(let earlier)? = steps.last {
            steps[steps.count - 1] = .sort(keys + earlier)
        } else {
            steps.append(.sort(keys))
        }
    }
}

extension PathResolver {
    /// A path for sorting: to-one links, then a property with a single value or one entry of a dictionary.
    func sortKey(
        _ elements: [PathSyntax.Element], from table: Table, isAscending: Bool
    ) throws(QueryError) -> SortKey {
        var links: [LinkStep] = []
        var current = table
        var found: (column: Column, table: Table)?
        var dictionaryKey: ByteView?
        for element in elements {
            guard case .key(let name) = element else { throw unsortable("'\(text)' cannot be sorted by") }
            let translated = try translate(name, current)
            if found?.column.collection == .dictionary {
                // Nothing can follow the key of a dictionary; a further name takes its place.
                dictionaryKey = pool.keep(translated.utf8)
                continue
            }
            if let (column, owner) = found {
                links.append(try sortLink(column, owner))
                current = links[links.count - 1].target
            }
            let own = found == nil ? translated : try translate(name, current)
            guard let column = current.column(named: own) else {
                throw QueryError.invalid(
                    .unknownProperty, detail: "'\(current.className ?? current.name)' has no property '\(own)'",
                    culprit: text, position: position)
            }
            found = (column, current)
            recorder.add(column, of: current)
        }
        guard let (column, owner) = found else { throw unsortable("'\(text)' cannot be sorted by") }
        guard column.collection == nil || (column.collection == .dictionary && dictionaryKey != nil) else {
            throw unsortable("'\(text)' is a collection and cannot be sorted by")
        }
        return SortKey(
            column, of: owner, chain: LinkChain(links), dictionaryKey: dictionaryKey, isAscending: isAscending,
            label: text)
    }

    private func sortLink(_ column: Column, _ table: Table) throws(QueryError) -> LinkStep {
        guard column.type == .link, column.collection == nil, let key = column.targetTable,
            let target = snapshot.table(key)
        else { throw unsortable("'\(column.name)' in '\(text)' is not a link to one object") }
        return LinkStep(kind: .link, column: column, source: table, target: target, label: column.name)
    }

    private func unsortable(_ detail: String) -> QueryError {
        .invalid(.structure, detail: detail, culprit: text, position: position)
    }
}
