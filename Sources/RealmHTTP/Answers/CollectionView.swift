// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Which elements of a collection a request means, and in which order.
struct CollectionView {
    /// The version that is read.
    let context: ReadContext
    /// Filter and order.
    let parameters: ReadParameters
    /// The collection.
    let elements: Elements

    /// Positions in a collection.
    enum Positions {
        /// All of so many, in order.
        case all(Int)
        case chosen([Int])

        var count: Int {
            switch self {
            case .all(let count): return count
            case .chosen(let positions): return positions.count
            }
        }

        /// The position in the collection of the element that comes at `index` in the view.
        subscript(index: Int) -> Int {
            switch self {
            case .all: return index
            case .chosen(let positions): return positions[index]
            }
        }
    }

    /// Positions in the collection, in the order asked for.
    func positions() throws(Problem) -> Positions {
        guard parameters.predicate != nil || !parameters.sort.isEmpty || !parameters.distinct.isEmpty else {
            return .all(elements.count)
        }
        let arguments = try ArgumentDecoder(context.snapshot).decode(parameters.args)
        guard elements.count <= context.limits.sortedValues else {
            throw Problem(WorkStop.tooManyValues(limit: context.limits.sortedValues))
        }
        let values = try Problem.mapping { () throws(StorageError) in try elements.allValues(context.request.budget) }
        switch elements.subject {
        case .objects(let table): return .chosen(try objects(of: table, values, arguments))
        case .values(let column, let table, let owner):
            return .chosen(try plain(values, column, table, owner: owner, arguments: arguments))
        }
    }

    /// Elements that are objects: the query is one about their class. Null links are none of them.
    private func objects(of table: Table, _ values: [Value], _ arguments: [QueryArgument]) throws(Problem) -> [Int] {
        let query = try ObjectQuery(parameters, arguments, of: table, context)
        var keys: [ObjectKey] = []
        var places: [Int] = []
        for (place, value) in values.enumerated() {
            guard case .link(_, let key) = value else { continue }
            keys.append(key)
            places.append(place)
        }
        return try query.positions(over: keys).map { places[$0] }
    }

    private func plain(
        _ values: [Value], _ column: Column, _ table: Table, owner: Row, arguments: [QueryArgument]
    ) throws(Problem) -> [Int] {
        let query = try ObjectQuery.parse(parameters.predicate, "where")
        let order = ResultOrder(
            sort: parameters.sort.map { ResultOrder.Key(path: $0.path, isAscending: $0.isAscending) },
            distinct: parameters.distinct)
        let bound: ElementQuery
        do throws(QueryError) {
            bound = try ElementQuery.bind(
                query, to: column, of: table, in: context.snapshot, arguments: arguments, order: order)
        } catch {
            throw Problem(error, in: QueryPartNames())
        }
        let budget = context.request.budget
        do throws(QueryError) {
            return try bound.execute(values, owner: owner, check: { budget.goesOn })
        } catch {
            if case .cancelled = error { throw Problem(budget.stop ?? .expired) }
            throw Problem(error, parameter: "where")
        }
    }
}
