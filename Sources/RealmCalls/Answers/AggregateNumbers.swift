// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// Writes the response to a request for aggregates, such as `{"count":12,"max:age":9}`, of a whole result
/// or of each of its groups.
package struct AggregateNumbers {
    /// The version that was read, and the request.
    let context: ReadContext
    /// The parameters of the request.
    let parameters: ReadParameters
    /// The entries of `ops`.
    private let operations: [AggregateOperation]
    /// For each operation, whether its property is Mixed.
    private let isMixed: [Bool]
    /// Writes keys of groups, and numbers.
    private let writer: GroupWriter

    /// Prepares the response of a request.
    ///
    /// - Parameters:
    ///   - operations: The entries of `ops`.
    ///   - subject: The aggregated rows: objects of a class, or values of a collection.
    ///   - context: The version that is read, and the request.
    ///   - parameters: The parameters of the request.
    package init(
        _ operations: [AggregateOperation], of subject: Elements.Subject, _ context: ReadContext, _ parameters: ReadParameters
    ) {
        self.context = context
        self.parameters = parameters
        self.operations = operations
        let writer = GroupWriter(subject, context, parameters.representation)
        isMixed = operations.map { $0.request.map { !$0.isStatistic && writer.isMixed($0.path) } ?? false }
        self.writer = writer
    }

    /// All operations but `count`, as requests to the engine.
    private var requests: [AggregateRequest] { operations.compactMap(\.request) }

    /// Returns the response for a whole result, with one member for each operation in the order of the
    /// request, and the version.
    ///
    /// - Parameters:
    ///   - etag: The entity tag of the response.
    ///   - aggregate: Returns the number of rows, and the results of all operations but `count`.
    /// - Throws: `aggregate_overflow` when a sum of integers does not fit into 64 bits.
    package func answer(
        etag: String, _ aggregate: ([AggregateRequest]) throws(Problem) -> (count: Int, results: [AggregateResult])
    ) throws(Problem) -> Response {
        let (count, results) = try aggregate(requests)
        var json = JSONWriter()
        json.beginObject()
        try write(count: count, results, to: &json)
        return finish(&json, etag: etag)
    }

    /// Returns the response for a result in groups: those that `sort`, `after` or `offset`, and `limit` select. Where groups are
    /// left, `next` continues behind them.
    ///
    /// - Parameters:
    ///   - paths: The entries of `groupBy`.
    ///   - etag: The entity tag of the response.
    /// - Throws: `invalid_parameter` for a repeated path or a sort by anything that groups lack, and the problems of
    ///   `answer(etag:_:)`.
    package func answer(
        groupedBy paths: [String], etag: String, _ group: ([GroupRequest]) throws(Problem) -> [GroupedResult]
    ) throws(Problem) -> Response {
        guard Set<ByteText>(texts: paths).count == paths.count else {
            throw .invalidParameter("groupBy", "a path is given twice")
        }
        let terms = try sortTerms(paths)
        let having = try parameters.having.map { text throws(Problem) in
            try GroupFilter(text, names: columnNames(paths)) { column(named: $0, paths) }
        }
        var keys: [GroupRequest.Key] = []
        for path in paths { keys.append(try writer.key(path, of: "groupBy")) }
        let request = GroupRequest(by: keys, computing: requests, atMost: context.limits.groups)
        guard let result = try group([request]).first else { throw Problem(.internalError, "there are no groups") }
        let budget = context.call.request.budget
        var order = result.order(by: terms) { budget.continues }
        if let having { order = order.filter { budget.continues && having.holds(for: $0, of: result) } }
        try context.call.request.checkDeadline()
        let identity = parameters.identity(of: identity(paths), by: context.rightsIdentity)
        let start = min(
            try parameters.after.map { text throws(Problem) in try index(text, identity) } ?? parameters.offset ?? 0, order.count)
        let chosen = order[start...].prefix(parameters.limit ?? ReadParameters.defaultLimit)
        let hasMore = !chosen.isEmpty && chosen.endIndex < order.count
        let next = hasMore ? PageCursor(index: chosen.endIndex).text(identity: identity) : nil
        var json = JSONWriter(reservingCapacity: 1024 + chosen.count * 64)
        json.beginObject()
        json.key("groups")
        json.beginArray()
        let isMixed = keys.map { writer.isMixed($0.path) }
        for index in chosen { try write(index, of: result, paths, isMixed, to: &json) }
        json.endArray()
        json.member("next", text: next)
        if parameters.countsExactly {
            json.key("count")
            json.integer(order.count, parameters.representation)
        }
        var response = finish(&json, etag: etag)
        context.addPageHeaders(to: &response, next: next, count: parameters.countsExactly ? order.count : nil)
        return response
    }

    /// Returns the identity for cursors of these groups, besides the query and the sort.
    private func identity(_ paths: [String]) -> String {
        (["groups", context.call.request.target.path] + paths + [
            "", operations.map(\.text).joined(separator: ","), parameters.having ?? "",
        ])
        .joined(separator: "\n")
    }

    /// Returns the position of the first group behind a cursor.
    private func index(_ text: String, _ identity: UInt64) throws(Problem) -> Int {
        Int(clamping: max(0, try PageCursor(text, identity: identity).position.key.rawValue))
    }

    /// Resolves the terms of `sort`: operations, the number of rows, or keys of the groups.
    private func sortTerms(_ paths: [String]) throws(Problem) -> [GroupedResult.SortTerm] {
        var terms: [GroupedResult.SortTerm] = []
        for term in parameters.sort {
            guard let column = column(named: term.path, paths) else {
                let known = columnNames(paths).joined(separator: ", ")
                throw .invalidParameter("sort", "groups are sorted by one of \(known), and not by '\(term.path)'")
            }
            terms.append(GroupedResult.SortTerm(column, isAscending: term.isAscending))
        }
        return terms
    }

    /// The names by which groups are sorted and filtered.
    private func columnNames(_ paths: [String]) -> [String] {
        ["count"] + operations.filter { $0.request != nil }.map(\.text) + paths
    }

    /// Returns what a name means in the terms of `sort` and in `having`; nil for an unknown one.
    private func column(named name: String, _ paths: [String]) -> GroupedResult.Column? {
        if let index = operations.filter({ $0.request != nil }).firstIndex(where: { $0.text == name }) {
            return .aggregate(index)
        }
        if let index = paths.firstIndex(of: name) { return .key(index) }
        return name == "count" ? .size : nil
    }

    private func write(
        _ index: Int, of result: GroupedResult, _ paths: [String], _ isMixed: [Bool], to json: inout JSONWriter
    ) throws(Problem) {
        json.beginObject()
        json.key("key")
        json.beginObject()
        for (key, path) in paths.enumerated() {
            json.key(path)
            try Problem.mapping { () throws(StorageError) in
                try context.call.request.budget.spend()
                try writer.write(result.keys[key][index], isMixed: isMixed[key], to: &json)
            }
        }
        json.endObject()
        try write(count: result.sizes[index], result.results.map { $0[index] }, to: &json)
        json.endObject()
    }

    /// Writes one member for each operation.
    private func write(count: Int, _ results: [AggregateResult], to json: inout JSONWriter) throws(Problem) {
        var remaining = results[...]
        for (operation, isMixed) in zip(operations, isMixed) {
            json.key(operation.text)
            guard operation.request != nil else {
                json.integer(count, parameters.representation)
                continue
            }
            guard case .value(let value)? = remaining.popFirst() else {
                throw Problem(.aggregateOverflow, "the sum '\(operation.text)' does not fit into 64 bits").with(
                    "parameter", "ops")
            }
            try Problem.stored(writer.write(value, isMixed: isMixed, to: &json))
        }
    }

    /// Ends the document with the version, and returns it.
    private func finish(_ json: inout JSONWriter, etag: String) -> Response {
        context.writeVersion(to: &json)
        json.endObject()
        return context.answer(
            json.buffer, type: parameters.representation.mediaType, etag: etag, notes: writer.notes)
    }
}
