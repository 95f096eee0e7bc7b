// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmQuery
package import RealmStorage

/// The query of a list request, bound to one class in one version.
///
/// It runs the engine's query within the time and memory of the request, and turns errors into problems that name the
/// parameter. It is not Sendable: it is used by the one thread that works on the request.
package final class ObjectQuery {
    /// The engine's query, with its operands and conditions.
    let bound: BoundQuery
    /// Whether the text has `SORT`, `DISTINCT` or `LIMIT`. The result then has an order that no cursor can describe.
    let ordersItself: Bool
    /// The request, whose budget bounds the query and whose timing is measured.
    private let call: Call

    /// Parses and binds `where`, `sort` and `distinct`.
    ///
    /// A query whose binding alone may take milliseconds is not bound on the daemon's thread: the budget then stops the work
    /// there, and a worker restarts it.
    ///
    /// - Parameters:
    ///   - parameters: The parameters of the request.
    ///   - arguments: The values for `$0`, `$1` and so on.
    ///   - context: The version that is read, and the request.
    ///   - sort: An order that replaces that of the parameters, for sections.
    /// - Throws: `invalid_query`, `unknown_key_path` or `conflicting_parameters`, with `parameter`.
    package init(
        _ parameters: ReadParameters, _ arguments: [QueryArgument], of table: Table, _ context: ReadContext,
        sort: [ReadParameters.SortTerm]? = nil
    ) throws(Problem) {
        call = context.call
        call.query = parameters.predicate
        if ObjectQuery.isSlowToBind(parameters) {
            try Problem.stored(context.call.request.budget.beginLongStep())
        }
        let query = try ObjectQuery.parse(parameters.predicate, "where")
        ordersItself = query.hasDescriptors
        try ObjectQuery.checkDescriptors(query, parameters)
        let terms = sort ?? parameters.sort
        let order = ResultOrder(
            sort: terms.map { ResultOrder.Key(path: $0.path, isAscending: $0.isAscending) }, distinct: parameters.distinct)
        let budget = context.call.request.budget
        do throws(QueryError) {
            bound = try query.bind(
                to: table, in: context.snapshot, arguments: arguments, mapping: context.database.backlinkNames.mapping,
                order: order, check: { budget.continues })
        } catch {
            throw Problem(
                error, in: QueryPartNames(sort: parameters.sort.isEmpty && sort != nil ? "sectionBy" : "sort"), budget)
        }
        bound.sortedValueLimit = context.limits.sortedValues
    }

    /// Whether parsing and binding alone may take milliseconds: shapes with many corners, long texts, many arguments.
    private static func isSlowToBind(_ parameters: ReadParameters) -> Bool {
        guard let text = parameters.predicate else { return false }
        return text.utf8.count > 2048 || parameters.args.count > 100 || mayContainGeoShapes(text)
    }

    /// Whether the text contains `geo` in upper or lower case, as every shape does. It may also occur elsewhere.
    private static func mayContainGeoShapes(_ text: String) -> Bool {
        var last: UInt32 = 0
        for byte in text.utf8 {
            last = (last << 8 | UInt32(byte | 0x20)) & 0xff_ffff
            if last == 0x67_656f { return true }
        }
        return false
    }

    /// Parses a predicate; an absent one matches all objects.
    ///
    /// - Parameters:
    ///   - text: The predicate; nil when it is absent.
    /// - Throws: `invalid_query` with `parameter` and `position`.
    static func parse(_ text: String?, _ parameter: String) throws(Problem) -> Query {
        guard let text else { return .all }
        return try Problem.querying(parameter) { () throws(QueryError) in try Query.parse(text) }
    }

    /// Parses the predicate of `indexOfWhere`.
    ///
    /// - Throws: `invalid_query`, and `conflicting_parameters` for a text with `SORT`, `DISTINCT` or
    ///   `LIMIT`.
    static func predicate(_ text: String?) throws(Problem) -> Query {
        let query = try parse(text, "indexOfWhere")
        guard !query.hasDescriptors else {
            throw .conflict("'indexOfWhere' takes a predicate only", parameter: "indexOfWhere")
        }
        return query
    }

    /// Throws `conflicting_parameters` for a query with `SORT`, `DISTINCT` or `LIMIT` combined with `sort`, `distinct` or
    /// `after`.
    static func checkDescriptors(_ query: Query, _ parameters: ReadParameters) throws(Problem) {
        guard query.hasDescriptors else { return }
        let given = [
            ("sort", !parameters.sort.isEmpty), ("distinct", !parameters.distinct.isEmpty), ("after", parameters.after != nil),
        ]
        guard let (name, _) = given.first(where: \.1) else { return }
        throw .conflict("'\(name)' cannot be combined with SORT, DISTINCT or LIMIT in 'where'", parameter: name)
    }
    /// A function that the engine calls between leaves; it returns false when the query has to stop.
    private var check: BoundQuery.Check {
        let budget = call.request.budget
        return { budget.continues }
    }

    /// Runs a step of a query and turns its error into a problem. For a query that was stopped, the problem states the reason.
    ///
    /// - Parameters:
    ///   - parameter: The name of the parameter that the query came from.
    ///   - budget: The budget of the request.
    ///   - body: The step.
    static func querying<Result>(
        _ parameter: String, _ budget: WorkBudget, _ body: () throws(QueryError) -> Result
    ) throws(Problem) -> Result {
        do throws(QueryError) {
            return try body()
        } catch {
            if case .cancelled = error { throw Problem(budget.stop ?? .expired) }
            throw Problem(error, parameter: parameter)
        }
    }

    /// Runs a step of the query in `where`.
    private func querying<Result>(_ body: () throws(QueryError) -> Result) throws(Problem) -> Result {
        try ObjectQuery.querying("where", call.request.budget, body)
    }

    // MARK: - Results

    /// Returns the rows of a page, in the order of the request.
    ///
    /// - Parameter window: The numbers of rows to skip and to return, and the position after which they begin.
    func page(_ window: ResultWindow) throws(Problem) -> PageRows {
        try call.timed(\.query) { () throws(Problem) in
            try querying { () throws(QueryError) in
                if let leaves = try bound.leaves(window, check: check) { return PageRows(leaves: leaves) }
                return PageRows(keys: try bound.execute(window, check: check)[...])
            }
        }
    }

    /// Returns the object keys of a part of the result, in its order. The whole result by default.
    func keys(_ window: ResultWindow = .all) throws(Problem) -> [ObjectKey] {
        try call.timed(\.query) { () throws(Problem) in
            try querying { () throws(QueryError) in try bound.execute(window, check: check) }
        }
    }

    /// Returns the positions in `keys` of the objects that are in the result, in the order of the result.
    func positions(over keys: [ObjectKey]) throws(Problem) -> [Int] {
        try call.timed(\.query) { () throws(Problem) in
            try querying { () throws(QueryError) in try bound.execute(over: keys, check: check) }
        }
    }

    /// Returns the number of objects of the whole result.
    func count() throws(Problem) -> Int {
        try call.timed(\.query) { () throws(Problem) in
            takeHelpers()
            return try querying { () throws(QueryError) in try bound.count(check: check) }
        }
    }

    /// Lets other threads help with later work, unless this is a thread of the daemon, which does not wait for others.
    private func takeHelpers() { bound.helpers = call.request.budget.handOverAt.isDistantFuture ? .shared : nil }

    /// Returns the number of matches if an index knows it without reading objects; nil otherwise.
    func indexedCount() throws(Problem) -> Int? {
        try Problem.querying { () throws(QueryError) in try bound.indexedCount() }
    }

    /// Returns the plan of the query as lines of text, for `explain`.
    func plan() throws(Problem) -> [String] {
        try Problem.querying { () throws(QueryError) in try bound.explain() }
    }

    /// Returns the position of a row in the order of the result, for a cursor.
    func position(of row: Row) throws(Problem) -> PagePosition {
        try Problem.querying { () throws(QueryError) in try bound.position(of: row) }
    }

    /// Returns the cursor of the page after a row.
    func cursor(behind row: Row) throws(Problem) -> PageCursor { PageCursor(after: row.key, sortedBy: try sortValues(of: row)) }

    /// Returns the position that a cursor names, in the order of the result.
    ///
    /// - Throws: `cursor_invalid` for a cursor with a digest, when its object has other values by now or is gone.
    func position(of cursor: PageCursor) throws(Problem) -> PagePosition {
        guard let digest = cursor.digest else { return cursor.position }
        let key = cursor.position.key
        guard let row = try Problem.stored(bound.table.find(key)) else {
            throw PageCursor.stale
        }
        let values = try sortValues(of: row)
        guard PageCursor.digest(of: values, key) == digest else { throw PageCursor.stale }
        return PagePosition(values: values, key: key)
    }

    /// Returns the values by which a row is sorted. A digest of long ones takes a while.
    private func sortValues(of row: Row) throws(Problem) -> [Value] {
        let values = try Problem.querying { () throws(QueryError) in try bound.sortValues(of: row) }
        try Problem.stored(call.request.budget.meet(byteCount: values.reduce(0) { $0 + $1.byteCount }))
        return values
    }

    /// Returns a cursor that finds matches while they are written; nil for a result in another
    /// order than that of the object keys.
    func cursor(_ window: ResultWindow) throws(Problem) -> MatchCursor? {
        try Problem.querying { () throws(QueryError) in try bound.cursor(window) }
    }

    /// Returns aggregates of the result's objects, and their number.
    ///
    /// - Throws: `type_mismatch` for a property of a type that the function does not take,
    ///   `unknown_key_path`; both with the parameter `ops`.
    package func aggregate(_ requests: [AggregateRequest]) throws(Problem) -> (count: Int, results: [AggregateResult]) {
        takeHelpers()
        return try aggregating("ops") { () throws(QueryError) in try bound.aggregate(requests, check: check) }
    }

    /// Returns aggregates of those of some objects that are in the result, and their number.
    ///
    /// - Throws: The same problems as `aggregate(_:)`.
    func aggregate(
        _ requests: [AggregateRequest], over keys: [ObjectKey]
    ) throws(Problem) -> (count: Int, results: [AggregateResult]) {
        try aggregating("ops") { () throws(QueryError) in try bound.aggregate(requests, over: keys, check: check) }
    }

    /// Groups the result, once for each request, in one pass.
    ///
    /// - Parameters:
    ///   - requests: The keys of the groups, and the aggregates of each group.
    ///   - parameter: The parameter with the paths of the groups, for problems.
    /// - Throws: `unknown_key_path`, `invalid_query`, `type_mismatch`, or `answer_too_large` for more than `groups` groups.
    package func group(_ requests: [GroupRequest], _ parameter: String) throws(Problem) -> [GroupedResult] {
        try aggregating(parameter) { () throws(QueryError) in try bound.group(requests, check: check) }
    }

    /// Groups those of some objects that are in the result.
    ///
    /// - Throws: The same problems as `group(_:_:)`.
    func group(
        _ requests: [GroupRequest], over keys: [ObjectKey], _ parameter: String
    ) throws(Problem) -> [GroupedResult] {
        try aggregating(parameter) { () throws(QueryError) in try bound.group(requests, over: keys, check: check) }
    }

    /// Runs a step that combines values of the result, and measures its time.
    ///
    /// - Parameter parameter: The parameter with the key paths, for problems.
    private func aggregating<Result>(
        _ parameter: String, _ body: () throws(QueryError) -> Result
    ) throws(Problem) -> Result {
        try call.timed(\.query) { () throws(Problem) in
            do throws(QueryError) {
                return try body()
            } catch {
                throw ObjectQuery.problem(error, aggregating: parameter, call.request.budget)
            }
        }
    }

    /// Returns the problem of an error in key paths whose values are combined.
    ///
    /// - Parameters:
    ///   - error: The error of the engine.
    ///   - parameter: The parameter with the key paths: `ops`, or that of groups, which may be combined with operations.
    ///   - budget: The budget of the request, which knows why it stopped the query.
    static func problem(_ error: QueryError, aggregating parameter: String, _ budget: WorkBudget) -> Problem {
        if case .cancelled = error { return Problem(budget.stop ?? .expired) }
        if case .group? = error.part { return Problem(error, in: QueryPartNames(group: parameter)) }
        guard ["ops", "groupBy"].contains(parameter) else { return Problem(error, parameter: parameter) }
        if case .invalid(.typeMismatch, let detail, _, _, _) = error {
            return Problem(.typeMismatch, detail).with("parameter", "ops")
        }
        return Problem(error, parameter: "ops")
    }
}
