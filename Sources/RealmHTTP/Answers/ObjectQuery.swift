// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// The result that a list request describes, bound to one version.
///
/// Not Sendable: made and used within one job.
final class ObjectQuery {
    let bound: BoundQuery
    /// Whether the text orders or cuts the result, so that no cursor leads into it.
    let ordersItself: Bool
    private let request: Request

    /// Parses and binds `where`, `sort` and `distinct`. `sort` may come from elsewhere than the parameters.
    init(
        _ parameters: ReadParameters, _ arguments: [QueryArgument], of table: Table, _ context: ReadContext,
        sort: [ReadParameters.SortTerm]? = nil
    ) throws(Problem) {
        request = context.request
        request.query = parameters.predicate
        if ObjectQuery.isDearToBind(parameters) {
            try Problem.mapping { () throws(StorageError) in try context.request.budget.beginLongStep() }
        }
        let query = try ObjectQuery.parse(parameters.predicate, "where")
        ordersItself = query.hasDescriptors
        try ObjectQuery.checkDescriptors(query, parameters)
        let terms = sort ?? parameters.sort
        let order = ResultOrder(
            sort: terms.map { ResultOrder.Key(path: $0.path, isAscending: $0.isAscending) }, distinct: parameters.distinct)
        let budget = context.request.budget
        do throws(QueryError) {
            bound = try query.bind(
                to: table, in: context.snapshot, arguments: arguments, mapping: context.database.backlinkNames.mapping,
                order: order, check: { budget.goesOn })
        } catch {
            throw ObjectQuery.problem(
                error, in: QueryPartNames(sort: parameters.sort.isEmpty && sort != nil ? "sectionBy" : "sort"), budget)
        }
        bound.sortedValueLimit = context.limits.sortedValues
    }

    /// Whether reading and binding alone may take milliseconds: shapes with many corners, long texts, many arguments.
    private static func isDearToBind(_ parameters: ReadParameters) -> Bool {
        guard let text = parameters.predicate else { return false }
        return text.utf8.count > 2048 || parameters.args.count > 100 || mayHaveShapes(text)
    }

    /// Whether `geo` stands in a text, in any case of letters, as before every shape.
    private static func mayHaveShapes(_ text: String) -> Bool {
        var last: UInt32 = 0
        for byte in text.utf8 {
            last = (last << 8 | UInt32(byte | 0x20)) & 0xff_ffff
            if last == 0x67_656f { return true }
        }
        return false
    }

    static func parse(_ text: String?, _ parameter: String) throws(Problem) -> Query {
        guard let text else { return .all }
        return try Problem.querying(parameter) { () throws(QueryError) in try Query.parse(text) }
    }

    /// A query that orders itself leaves nothing to the parameters.
    private static func checkDescriptors(_ query: Query, _ parameters: ReadParameters) throws(Problem) {
        guard query.hasDescriptors else { return }
        let given = [
            ("sort", !parameters.sort.isEmpty), ("distinct", !parameters.distinct.isEmpty), ("after", parameters.after != nil),
        ]
        guard let (name, _) = given.first(where: \.1) else { return }
        throw .conflict("'\(name)' cannot stand beside SORT, DISTINCT or LIMIT in 'where'", parameter: name)
    }

    /// What a query did wrong, or why it was stopped.
    static func problem(_ error: QueryError, in names: QueryPartNames, _ budget: WorkBudget) -> Problem {
        if case .cancelled = error { return Problem(budget.stop ?? .expired) }
        return Problem(error, in: names)
    }

    /// Asked between leaves: is there time left?
    private var check: BoundQuery.Check {
        let budget = request.budget
        return { budget.goesOn }
    }

    /// A query that was given up is told with the reason.
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

    private func querying<Result>(_ body: () throws(QueryError) -> Result) throws(Problem) -> Result {
        try ObjectQuery.querying("where", request.budget, body)
    }

    // MARK: - Results

    /// The rows of a page.
    func page(_ window: ResultWindow) throws(Problem) -> PageRows {
        try request.timed(\.query) { () throws(Problem) in
            try querying { () throws(QueryError) in
                if let leaves = try bound.leaves(window, check: check) { return PageRows(leaves: leaves) }
                return PageRows(keys: try bound.execute(window, check: check)[...])
            }
        }
    }

    func keys(_ window: ResultWindow = .all) throws(Problem) -> [ObjectKey] {
        try request.timed(\.query) { () throws(Problem) in
            try querying { () throws(QueryError) in try bound.execute(window, check: check) }
        }
    }

    /// Positions of those of the given objects that are in the result, in its order.
    func positions(over keys: [ObjectKey]) throws(Problem) -> [Int] {
        try request.timed(\.query) { () throws(Problem) in
            try querying { () throws(QueryError) in try bound.execute(over: keys, check: check) }
        }
    }

    func count() throws(Problem) -> Int {
        try request.timed(\.query) { () throws(Problem) in
            try querying { () throws(QueryError) in try bound.count(check: check) }
        }
    }

    /// See `BoundQuery`.
    func indexedCount() throws(Problem) -> Int? {
        try Problem.querying { () throws(QueryError) in try bound.indexedCount() }
    }

    func plan() throws(Problem) -> [String] {
        try Problem.querying { () throws(QueryError) in try bound.explain() }
    }

    func position(of row: Row) throws(Problem) -> PagePosition {
        try Problem.querying { () throws(QueryError) in try bound.position(of: row) }
    }

    func cursor(_ window: ResultWindow) throws(Problem) -> MatchCursor? {
        try Problem.querying { () throws(QueryError) in try bound.cursor(window) }
    }

    func aggregate(_ requests: [AggregateRequest]) throws(Problem) -> (count: Int, results: [AggregateResult]) {
        try request.timed(\.query) { () throws(Problem) in try calculate(requests) }
    }

    private func calculate(_ requests: [AggregateRequest]) throws(Problem) -> (count: Int, results: [AggregateResult]) {
        do throws(QueryError) {
            return try bound.aggregate(requests, check: check)
        } catch {
            if case .cancelled = error { throw Problem(request.budget.stop ?? .expired) }
            if case .invalid(.typeMismatch, let detail, _, _, _) = error {
                throw Problem(.typeMismatch, detail).with("parameter", "ops")
            }
            throw Problem(error, parameter: "ops")
        }
    }
}
