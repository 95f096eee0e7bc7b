// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

extension BoundQuery {
    /// Groups the results, after all descriptors, in one pass.
    ///
    /// - Parameters:
    ///   - requests: The groupings, independent of each other.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Returns: The groups of each request, in the order of their first rows.
    /// - Throws: `QueryError.invalid` about a `group` part for a path by which nothing can be grouped,
    ///   or about an aggregate; `.storage` for a damaged file, too many groups or too much that they
    ///   keep, and `.cancelled` when the check asks to stop.
    /// - Complexity: O(number of results), in addition to finding them.
    package func group(_ requests: [GroupRequest], check: Check? = nil) throws(QueryError) -> [GroupedResult] {
        try cancellation.watching(check) { () throws(QueryError) in
            let groupers = try groupers(requests)
            defer { groupers.forEach { $0.release() } }
            try forEachResult(check, reading: groupers.flatMap(\.columns)) { leaf, rows throws(StorageError) in
                try cancellation.step(rows.count)
                for grouper in groupers { try grouper.add(leaf, rows) }
            }
            return try finish(groupers)
        }
    }

    /// Groups those of some objects that are in the result, such as the links of a list. An object
    /// counts as often as it occurs.
    ///
    /// - Parameters:
    ///   - requests: The groupings, independent of each other.
    ///   - keys: The objects. Keys of objects that do not exist are left out.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Returns: The groups of each request, in the order of their first rows.
    /// - Throws: The same errors as `group(_:check:)`.
    package func group(
        _ requests: [GroupRequest], over keys: [ObjectKey], check: Check? = nil
    ) throws(QueryError) -> [GroupedResult] {
        try cancellation.watching(check) { () throws(QueryError) in
            let groupers = try groupers(requests)
            defer { groupers.forEach { $0.release() } }
            let positions = try execute(over: keys)
            try forEachObject(positions.lazy.map { keys[$0] }) { leaf, rows throws(StorageError) in
                for grouper in groupers { try grouper.add(leaf, rows) }
            }
            return try finish(groupers)
        }
    }

    private func groupers(_ requests: [GroupRequest]) throws(QueryError) -> [Grouper] {
        var groupers: [Grouper] = []
        for request in requests {
            var keys: [GroupKey] = []
            for (index, key) in request.keys.enumerated() { keys.append(try groupKey(key, at: index)) }
            var aggregators: [any GroupAggregator] = []
            for aggregate in request.aggregates {
                let key = try sortKey(aggregate.path)
                try aggregate.require(key.column.type)
                aggregators.append(aggregate.groupAggregator(of: key, cancellation))
            }
            guard let first = keys.first else { throw .groupedByNothing }
            groupers.append(Grouper(first, keys.dropFirst(), aggregators, limit: request.limit, cancellation: cancellation))
        }
        return groupers
    }

    /// Resolves a path by which rows are grouped.
    ///
    /// - Throws: `QueryError.invalid` about the part `group(index)`.
    private func groupKey(_ request: GroupRequest.Key, at index: Int) throws(QueryError) -> GroupKey {
        do throws(QueryError) {
            let path = request.path
            let key = try sortKey(path)
            if let target = key.column.targetTable, snapshot.table(target)?.kind == .embedded {
                throw QueryError.invalid(
                    .structure, detail: "'\(path)' is an embedded object; name one of its properties", culprit: path,
                    position: nil)
            }
            try request.function?.require(key.valueType, of: path)
            return GroupKey(key, request.function, cancellation)
        } catch {
            throw error.about(.group(index))
        }
    }

    /// Returns the groups, unless a value was one by which nothing can be grouped.
    private func finish(_ groupers: [Grouper]) throws(QueryError) -> [GroupedResult] {
        guard !groupers.contains(where: \.hasCollection) else { throw QueryError.groupedCollection }
        for grouper in groupers {
            if let index = grouper.keyWithOtherType { throw QueryError.functionOfOtherType.about(.group(index)) }
        }
        return groupers.map { $0.finish() }
    }
}

extension QueryError {
    /// The error of a request for groups without a key path.
    static let groupedByNothing = QueryError.invalid(
        .structure, detail: "groups need at least one key path", culprit: nil, position: nil, part: .group(0))

    /// The error of a mixed value of a type that the function of its group does not take.
    static let functionOfOtherType = QueryError.invalid(
        .typeMismatch, detail: "the function does not take values of this type", culprit: nil, position: nil)

    /// The error of a mixed value that is a collection, where a group would need it as its key.
    static let groupedCollection = QueryError.invalid(
        .structure, detail: "collections cannot be keys of groups", culprit: nil, position: nil, part: .group(0))
}

extension ValueFunction {
    /// Throws `QueryError.invalid` with `typeMismatch` unless the function takes a type.
    fileprivate func require(_ type: ColumnType, of path: String) throws(QueryError) {
        guard resultType(of: type) == nil else { return }
        throw .invalid(
            .typeMismatch, detail: "the function of '\(path)' does not take values of type '\(OperandType(type).rawValue)'",
            culprit: path, position: nil)
    }
}

extension ElementQuery {
    /// Groups the values that match, after all steps: each group has equal values.
    ///
    /// - Parameters:
    ///   - requests: The groupings, whose paths are `self`.
    ///   - values: The elements of the collection, in order.
    ///   - owner: The object that holds the collection.
    ///   - check: Is called from time to time and returns whether to continue.
    /// - Returns: The groups of each request, in the order of their first values.
    /// - Throws: `QueryError.invalid` for another path or a function that the type does not take,
    ///   `.storage` for too many groups or too much that they keep, and `.cancelled` when the check asks
    ///   to stop.
    package func group(
        _ requests: [GroupRequest], over values: [Value], owner: Row, check: BoundQuery.Check? = nil
    ) throws(QueryError) -> [GroupedResult] {
        for request in requests {
            guard !request.keys.isEmpty else { throw .groupedByNothing }
            for (index, key) in request.keys.enumerated() {
                try ElementQuery.requireSelf(key.path, part: .group(index))
                do throws(QueryError) { try key.function?.require(type, of: key.path) } catch { throw error.about(.group(index)) }
            }
            for aggregate in request.aggregates {
                try ElementQuery.requireSelf(aggregate.path)
                try aggregate.require(type)
            }
        }
        let positions = try execute(values, owner: owner, check: check)
        return try cancellation.watching(check) { () throws(QueryError) in
            var results: [GroupedResult] = []
            for request in requests { results.append(try group(request, positions, of: values)) }
            return results
        }
    }

    /// Groups some of the values.
    private func group(_ request: GroupRequest, _ positions: [Int], of values: [Value]) throws(QueryError) -> GroupedResult {
        var keys = request.keys.map { ElementGroupKey($0.function, of: type, cancellation) }
        var combinations = IntegerNumbering()
        var members: [Int] = []
        var sizes: [Int] = []
        var folds = request.aggregates.map { _ in [ValueCollector]() }
        let isKeeping = request.aggregates.contains(where: \.isStatistic)
        let bytesPerGroup =
            request.aggregates.count * MemoryLayout<ValueCollector>.stride
            + keys.count * (MemoryLayout<Value>.stride + MemoryLayout<UInt32>.stride) + MemoryLayout<Int>.stride
        // The values that the check has counted, and those of them that are groups.
        var (heldCount, groupsHeld) = (0, 0)
        defer { cancellation.release(heldCount) }
        for position in positions {
            var group = 0
            for index in keys.indices {
                let number = try storage { () throws(StorageError) in try keys[index].number(values[position]) }
                group = index == 0 ? number : Int(combinations.number(Int64(group) << 32 | Int64(number)))
            }
            if group == sizes.count {
                guard group < request.limit else { throw .storage(.stopped(.tooManyGroups(limit: request.limit))) }
                let byteCount = keys.reduce(combinations.byteCount) { $0 + $1.byteCount }
                let needed = (byteCount + (group + 1) * bytesPerGroup) / CancellationCheck.bytesPerValue
                if needed > groupsHeld {
                    try storage { () throws(StorageError) in try cancellation.hold(needed - groupsHeld) }
                    heldCount += needed - groupsHeld
                    groupsHeld = needed
                }
                sizes.append(0)
                members.append(position)
                for (index, aggregate) in request.aggregates.enumerated() {
                    folds[index].append(ValueCollector(aggregate.combination, of: type, cancellation))
                }
            }
            sizes[group] += 1
            if isKeeping {
                try storage { () throws(StorageError) in try cancellation.hold(folds.count) }
                heldCount += folds.count
            }
            for index in folds.indices {
                try storage { () throws(StorageError) in try folds[index][group].add(values[position]) }
            }
        }
        guard !keys.contains(where: \.hasCollection) else { throw .groupedCollection }
        if let index = keys.firstIndex(where: \.hasOtherType) { throw QueryError.functionOfOtherType.about(.group(index)) }
        var columns: [[Value]] = []
        for index in keys.indices {
            columns.append(try storage { () throws(StorageError) in try keys[index].values(at: members, of: values) })
        }
        return GroupedResult(keys: columns, sizes: sizes, results: folds.map { $0.map(\.result) }, owners: keys.flatMap(\.owners))
    }
}
