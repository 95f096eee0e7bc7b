// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension Binder {
    /// Returns the steps for the descriptors of a query, followed by those that a caller adds.
    ///
    /// - Parameters:
    ///   - descriptors: The descriptors of the text.
    ///   - order: The sort keys and distinct paths that the caller adds.
    /// - Throws: `QueryError.invalid` for a path that cannot be sorted by. The error names the part
    ///   of the request it comes from.
    func steps(_ descriptors: [DescriptorSyntax], _ order: ResultOrder) throws(QueryError) -> [QueryPlan.ResultStep] {
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

    /// Resolves a sort key from a path that is in another part of the request than the text of the query.
    ///
    /// - Parameters:
    ///   - isAscending: Whether smaller values come first.
    ///   - part: The part of the request, which an error names.
    private func sortKey(text path: String, isAscending: Bool, part: QueryError.Part) throws(QueryError) -> SortKey {
        var resolver = paths
        resolver.text = path
        resolver.position = nil
        do throws(QueryError) {
            if case .sort = part, let term = try DistanceTerm(path) {
                resolver.text = term.path
                return try resolver.distanceKey(term, from: table, isAscending: isAscending, label: path)
            }
            return try resolver.sortKey(try Parser.parsePath(path), from: table, isAscending: isAscending)
        } catch {
            throw error.about(part)
        }
    }

    /// Returns the steps for the descriptors of the text.
    ///
    /// - Throws: `QueryError.invalid` for a path that cannot be sorted by.
    private func steps(_ descriptors: [DescriptorSyntax]) throws(QueryError) -> [QueryPlan.ResultStep] {
        var steps: [QueryPlan.ResultStep] = []
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

    /// Resolves a sort key from a path in the text of the query.
    ///
    /// - Parameters:
    ///   - path: The path as it is written. Key path arguments are not allowed here.
    ///   - isAscending: Whether smaller values come first.
    /// - Throws: `QueryError.invalid` when the path does not exist, or cannot be sorted by.
    private func sortKey(_ path: PathSyntax, isAscending: Bool) throws(QueryError) -> SortKey {
        guard path.argument == nil else {
            throw invalid(.argument, "a key path argument is not allowed in a descriptor", path.range)
        }
        var resolver = paths
        resolver.text = source(path.range)
        resolver.position = position(path.range)
        return try resolver.sortKey(try elements(of: path), from: table, isAscending: isAscending)
    }
}

extension [QueryPlan.ResultStep] {
    /// Adds a sort. Two sorts in a row become one in which the later has priority, as the query language demands.
    fileprivate mutating func append(sortKeys keys: [SortKey]) {
        if case .sort(let earlier)? = last {
            self[count - 1] = .sort(keys + earlier)
        } else {
            append(.sort(keys))
        }
    }
}
