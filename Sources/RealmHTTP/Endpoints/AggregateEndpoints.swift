// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Aggregates over the objects of a class: counts, minima, maxima, sums and averages.
struct AggregateEndpoints: Sendable {
    /// Answers `GET` and `POST …/aggregate/{class}`; with `POST` the parameters are members of the
    /// body.
    ///
    /// Without `ops` the objects are counted. An operation that is given twice appears once in the
    /// result, because the members of a JSON object have different names. Classes of up to 2000
    /// objects are evaluated on the daemon's thread, larger ones by a worker.
    ///
    /// - Parameter call: The call, with the class in its path.
    /// - Returns: The result of each operation and the version, or 304 when the client has that
    ///   already.
    /// - Throws: The `Problem` of a wrong parameter, an unknown class, or an operation that the
    ///   type of a property does not permit.
    func aggregate(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(ofBodyAnd: call, .aggregate, formats: .documents)
        // A repeated operation is evaluated once: the members of an object have different names.
        var asked = Set<String>()
        let operations = try (parameters.ops ?? ["count"]).filter { asked.insert($0).inserted }
            .map { text throws(Problem) in try AggregateOperation(text) }
        let context = try ReadContext(call, snapshot: parameters.snapshot)
        let table = try context.table()
        let etag = context.versionTag(parameters.code)
        if call.isCurrent(etag) { return .now(context.unchanged(etag)) }
        return try Reply.reading(call.request, isShort: table.count <= 2000) { () throws(Problem) in
            let arguments = try ArgumentDecoder(context.snapshot).decode(parameters.args)
            let query = try ObjectQuery(parameters, arguments, of: table, context)
            let (count, results) = try query.aggregate(operations.compactMap(\.request))
            let numbers = AggregateNumbers(table: table, context: context, representation: parameters.representation)
            return try numbers.answer(to: operations, count: count, results, etag: etag)
        }
    }
}
