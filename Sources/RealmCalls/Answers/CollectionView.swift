// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// The elements of a collection that a request selects, their order, groups and aggregates.
///
/// The elements are read when they are first needed; nothing is read for a page of a whole collection. Null links are left out
/// wherever a request selects, sorts or groups. A view is used by the one thread that works on the request.
package final class CollectionView {
    /// The version that is read, and the request.
    let context: ReadContext
    /// The parameters of the request, of which the filter and the order are used.
    let parameters: ReadParameters
    /// The collection whose elements are selected.
    let target: CollectionTarget
    var elements: Elements { target.elements }
    /// An order that replaces that of the parameters, for sections; nil for none.
    private let sort: [ReadParameters.SortTerm]?
    /// All elements, in their order; nil until they are needed.
    private var read: [Value]?
    /// The query over the elements; nil until it is needed.
    private var known: Bound?

    /// The query over the elements, bound to their type.
    private enum Bound {
        /// A query over objects of a class, with their keys and their positions in the collection.
        case objects(ObjectQuery, keys: [ObjectKey], places: [Int])
        /// A query over values of the owner, in which `self` is the value.
        case values(ElementQuery, owner: Row)
    }

    /// Positions of elements in a collection, from 0.
    enum Positions {
        /// All elements, in the order of the collection; the number is their count. Nothing has to be stored for each.
        case all(Int)
        /// The positions of some elements, in the order of the view.
        case chosen([Int])

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

    /// Creates the view of a request. Nothing is parsed or read yet.
    ///
    /// - Parameters:
    ///   - context: The version that is read, and the request.
    ///   - parameters: The parameters of the request.
    ///   - sort: An order that replaces that of the parameters, for sections.
    package init(
        context: ReadContext, parameters: ReadParameters, target: CollectionTarget, sort: [ReadParameters.SortTerm]? = nil
    ) {
        self.context = context
        self.parameters = parameters
        self.target = target
        self.sort = sort
    }

    /// Whether the view has all elements in their own order.
    private var isWhole: Bool {
        parameters.predicate == nil && (sort ?? parameters.sort).isEmpty && parameters.distinct.isEmpty
    }

    /// Returns the values of all elements, which are read once.
    ///
    /// - Throws: The problem of a collection with more elements than `sorted-values`, or of a budget
    ///   that is used up.
    func values() throws(Problem) -> [Value] {
        if let read { return read }
        guard elements.count <= context.limits.sortedValues else {
            throw Problem(WorkStop.tooManyValues(limit: context.limits.sortedValues))
        }
        var values = try Problem.stored(elements.allValues(context.call.request.budget))
        if case .values = elements.subject, let hidden = context.snapshot.hiddenLink {
            // Hidden objects are indistinguishable.
            for (index, value) in values.enumerated() {
                if case .link(let target, let key) = value, key.rawValue >= 0, context.snapshot.hides(target) {
                    values[index] = hidden
                }
            }
        }
        read = values
        return values
    }

    /// Returns the positions of the selected elements in the order of the request.
    ///
    /// Without a filter or an order nothing is read. Otherwise all elements are read and held in memory.
    ///
    /// - Throws: The problem of a malformed query or argument, and those of `values()`.
    func positions() throws(Problem) -> Positions {
        if isWhole { return .all(elements.count) }
        return .chosen(try selected())
    }

    /// Returns the positions of the selected elements without null links, which have no properties.
    func selected() throws(Problem) -> [Int] {
        switch try bound() {
        case .objects(let query, let keys, let places):
            if isWhole { return places }
            return try query.positions(over: keys).map { places[$0] }
        case .values(let query, let owner):
            let values = try values()
            return try querying("where") { check throws(QueryError) in
                try query.execute(values, owner: owner, check: check)
            }
        }
    }

    /// Returns aggregates of the selected elements, and their number.
    ///
    /// - Throws: `type_mismatch` or `unknown_key_path` with the parameter `ops`, and the problems of
    ///   `positions()`.
    package func aggregate(_ requests: [AggregateRequest]) throws(Problem) -> (count: Int, results: [AggregateResult]) {
        switch try bound() {
        case .objects(let query, let keys, _):
            let (count, results) = try query.aggregate(requests, over: keys)
            // Entries of a dictionary that lead to no object count, too, unless a query selects objects.
            return (isWhole ? elements.count : count, results)
        case .values(let query, let owner):
            let values = try values()
            return try querying("ops") { check throws(QueryError) in
                try query.aggregate(requests, over: values, owner: owner, check: check)
            }
        }
    }

    /// Groups the selected elements, once for each request.
    ///
    /// - Parameters:
    ///   - requests: The keys of the groups, and the aggregates of each group.
    ///   - parameter: The parameter with the paths of the groups, for problems.
    /// - Throws: The problems of `ObjectQuery.group`, and those of `positions()`.
    package func group(_ requests: [GroupRequest], _ parameter: String) throws(Problem) -> [GroupedResult] {
        switch try bound() {
        case .objects(let query, let keys, _): return try query.group(requests, over: keys, parameter)
        case .values(let query, let owner):
            let values = try values()
            return try querying(parameter) { check throws(QueryError) in
                try query.group(requests, over: values, owner: owner, check: check)
            }
        }
    }

    /// Returns the plan of the query as lines of text, for `explain`.
    func plan() throws(Problem) -> [String] {
        switch try bound() {
        case .objects(let query, _, _): return query.bound.explain(count: elements.count, of: target.name)
        case .values(let query, _): return query.explain(count: elements.count, of: target.name)
        }
    }

    /// Whether the elements are sorted by a key path first.
    func isSorted(by path: String) throws(Problem) -> Bool {
        switch try bound() {
        case .objects(let query, _, _):
            guard let label = query.bound.sortLabels.first else { return false }
            return label == path || label == "-" + path
        case .values(let query, _): return query.isSorted
        }
    }

    // MARK: - Single elements

    /// Returns a function that reads the value by which an element is sorted first, for sections.
    func firstCells() throws(Problem) -> (Int) throws(Problem) -> PagePosition.Cell {
        let values = try values()
        switch try bound() {
        case .values:
            return { position in PagePosition.Cell(copying: values[position]) }
        case .objects(let query, _, _):
            guard case .objects(let table) = elements.subject else { return { _ in .missing } }
            let finder = ObjectFinder(table)
            return { position throws(Problem) in
                guard case .link(_, let key) = values[position],
                    let row = try Problem.stored(finder.find(key))
                else { return .missing }
                return try query.position(of: row).cells.first ?? .missing
            }
        }
    }

    /// Returns a predicate for the element that `indexOf` names.
    ///
    /// A mixed value is named by its JSON, which has a type: `1` is a number and `"1"` a string. Text that is not JSON is the
    /// string itself.
    ///
    /// - Throws: `invalid_parameter` for text that is no value of the collection's type.
    func isElement(_ wanted: ParameterSet.TextOrJSON) throws(Problem) -> (Value) throws(Problem) -> Bool {
        switch elements.subject {
        case .objects(let table):
            let text = try wanted.keyText(of: table)
            let row = try Problem.stored(KeyText.find(text, in: table))
            return { value in
                guard let row, case .link(_, let key) = value else { return false }
                return key == row.key
            }
        case .values(let column, _, _):
            let json = wanted.value(isMixed: column.type == .mixed)
            if let json, case .object(let object) = json, object.single?.name == "$link" { return try isLink(object) }
            if let json, column.type == .mixed || json.string == nil {
                let name = SectionName(.json(json))
                return { value in
                    SectionKey(QueryArgument(copying: value), isMixed: column.type == .mixed).fit(name) > .none
                }
            }
            let text = json?.string ?? wanted.text ?? ""
            guard let wanted = ElementText(text, of: column) else {
                throw .invalidParameter(
                    "indexOf", "'\(text.truncated)' is not a value of type \(PropertyType(column.type).rawValue)")
            }
            return { value in wanted.matches(value) }
        }
    }

    /// Returns a predicate for the link that a stub names.
    private func isLink(_ stub: JSONObject) throws(Problem) -> (Value) throws(Problem) -> Bool {
        guard let (name, key) = stub["$link"].flatMap({ ExtendedJSON.stub($0) }) else {
            throw .invalidParameter("indexOf", "a link is written {\"$link\":{\"class\":\"Person\",\"key\":\"7\"}}")
        }
        guard let table = context.snapshot.classTable(named: name) else { return { _ in false } }
        let row = try Problem.stored(KeyText.find(key, in: table))
        return { value in
            guard let row, case .link(table.key, let key) = value else { return false }
            return key == row.key
        }
    }

    /// Returns the predicate of `indexOfWhere`.
    ///
    /// - Throws: `invalid_query` and the like with the parameter `indexOfWhere`.
    func condition(_ text: String?) throws(Problem) -> (Value) throws(Problem) -> Bool {
        let query = try ObjectQuery.predicate(text)
        let arguments = try arguments()
        let budget = context.call.request.budget
        switch elements.subject {
        case .objects(let table):
            let bound = try querying("indexOfWhere") { check throws(QueryError) in
                try query.bind(
                    to: table, in: context.snapshot, arguments: arguments, mapping: context.database.backlinkNames.mapping,
                    check: check)
            }
            let finder = ObjectFinder(table)
            return { value throws(Problem) in
                guard case .link(_, let key) = value,
                    let row = try Problem.stored(finder.find(key))
                else { return false }
                return try ObjectQuery.querying("indexOfWhere", budget) { () throws(QueryError) in
                    try bound.matches(row, check: { budget.continues })
                }
            }
        case .values(let column, let table, let owner):
            let bound = try querying("indexOfWhere") { _ throws(QueryError) in
                try ElementQuery.bind(query, to: column, of: table, in: context.snapshot, arguments: arguments)
            }
            return { value throws(Problem) in
                try ObjectQuery.querying("indexOfWhere", budget) { () throws(QueryError) in
                    try bound.matches(value, owner: owner)
                }
            }
        }
    }

    // MARK: - Binding

    /// Returns the values of `args`.
    private func arguments() throws(Problem) -> [QueryArgument] {
        try ArgumentDecoder(context.snapshot).decode(parameters.args)
    }

    /// Runs a step of a query within the budget of the request, and names a parameter in its problems.
    private func querying<Result>(
        _ parameter: String, _ body: (@escaping BoundQuery.Check) throws(QueryError) -> Result
    ) throws(Problem) -> Result {
        let budget = context.call.request.budget
        do throws(QueryError) {
            return try body({ budget.continues })
        } catch {
            throw ObjectQuery.problem(error, aggregating: parameter, budget)
        }
    }

    /// Returns the query over the elements, which is bound once.
    private func bound() throws(Problem) -> Bound {
        if let known { return known }
        let bound: Bound
        switch elements.subject {
        case .objects(let table): bound = try objects(of: table)
        case .values(let column, let table, let owner): bound = try plain(column, table, owner)
        }
        known = bound
        return bound
    }

    /// Binds the query to the class of the elements. Null links do not match any query.
    private func objects(of table: Table) throws(Problem) -> Bound {
        let query = try ObjectQuery(parameters, try arguments(), of: table, context, sort: sort)
        var keys: [ObjectKey] = []
        var places: [Int] = []
        for (place, value) in try values().enumerated() {
            guard case .link(_, let key) = value else { continue }
            keys.append(key)
            places.append(place)
        }
        return .objects(query, keys: keys, places: places)
    }

    /// Binds the query to the values of a column, in which `self` is the value.
    private func plain(_ column: Column, _ table: Table, _ owner: Row) throws(Problem) -> Bound {
        let query = try ObjectQuery.parse(parameters.predicate, "where")
        try ObjectQuery.checkDescriptors(query, parameters)
        let terms = sort ?? parameters.sort
        let order = ResultOrder(
            sort: terms.map { ResultOrder.Key(path: $0.path, isAscending: $0.isAscending) }, distinct: parameters.distinct)
        let arguments = try arguments()
        do throws(QueryError) {
            let bound = try ElementQuery.bind(
                query, to: column, of: table, in: context.snapshot, arguments: arguments, order: order)
            bound.sortedValueLimit = context.limits.sortedValues
            return .values(bound, owner: owner)
        } catch {
            throw Problem(
                error, in: QueryPartNames(sort: parameters.sort.isEmpty && sort != nil ? "sectionBy" : "sort"))
        }
    }
}
