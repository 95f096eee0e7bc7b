// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension Binder {
    /// The descriptors of a query, then those that a caller adds.
    func steps(_ descriptors: [DescriptorSyntax], _ order: ResultOrder) throws(QueryError) -> [ResultStep] {
        var steps = try steps(descriptors)
        if !order.sort.isEmpty {
            var keys: [SortKey] = []
            for (index, key) in order.sort.enumerated() {
                keys.append(try sortKey(text: key.path, isAscending: key.isAscending, part: .sort(index)))
            }
            steps.append(sortKeys: keys)
        }
        if !order.distinct.isEmpty {
            var keys: [SortKey] = []
            for (index, path) in order.distinct.enumerated() {
                keys.append(try sortKey(text: path, isAscending: true, part: .distinct(index)))
            }
            steps.append(.distinct(keys))
        }
        return steps
    }

    /// A sort key from a path that is not in the text of the query but in another part of the request.
    private func sortKey(text path: String, isAscending: Bool, part: QueryError.Part) throws(QueryError) -> SortKey {
        var resolver = paths
        resolver.text = path
        resolver.position = nil
        do throws(QueryError) {
            return try resolver.sortKey(try Parser.parsePath(path), from: table, isAscending: isAscending)
        } catch {
            throw error.about(part)
        }
    }

    /// The steps that the text itself asks for.
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
                steps.append(sortKeys: keys)
            }
        }
        return steps
    }

    /// A sort key from a path in the text of the query.
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

extension [ResultStep] {
    /// Adds a sort. Two sorts in a row become one in which the later has priority.
    fileprivate mutating func append(sortKeys keys: [SortKey]) {
        if case .sort(let earlier)? = last {
            self[count - 1] = .sort(keys + earlier)
        } else {
            append(.sort(keys))
        }
    }
}
