// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Finds which elements of a collection a request selects, and their order.
struct CollectionView {
    /// The version that is read, and the request.
    let context: ReadContext
    /// The parameters of the request, of which the filter and the order are used.
    let parameters: ReadParameters
    /// The collection whose elements are selected.
    let elements: Elements

    /// Positions of elements in a collection, from 0.
    enum Positions {
        /// All elements, in the order of the collection; the number is their count. Nothing has to
        /// be stored for each.
        case all(Int)
        /// The positions of some elements, in the order of the view.
        case chosen([Int])

        /// How many elements the view has.
        var count: Int {
            switch self {
            case .all(let count): return count
            case .chosen(let positions): return positions.count
            }
        }

        /// The position in the collection of the element at `index` of the view.
        subscript(index: Int) -> Int {
            switch self {
            case .all: return index
            case .chosen(let positions): return positions[index]
            }
        }
    }

    /// Returns the positions of the selected elements in the order of the request.
    ///
    /// Without a filter or an order nothing is read. Otherwise all elements are read and held in
    /// memory.
    ///
    /// - Throws: The problem of a malformed query or argument, of a collection with more elements
    ///   than `sorted-values`, or of a budget that is used up.
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

    /// Returns the positions of elements that are objects of a class, by a query on that class.
    /// Null links do not match any query.
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

    /// Returns the positions of elements that are values, by a query in which `self` is the
    /// element.
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
