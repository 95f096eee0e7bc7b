// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

extension Application {
    /// `GET` and `POST …/aggregate/{class}`
    func aggregate(_ call: Call) throws(Problem) -> Reply {
        let parameters = try readParameters(call, .aggregate, formats: .documents)
        // What is asked for twice is answered once: members of an object have different names.
        var asked = Set<String>()
        let operations = try (parameters.ops ?? ["count"]).filter { asked.insert($0).inserted }
            .map { text throws(Problem) in try AggregateOperation(text) }
        let context = try ReadContext(call, snapshot: parameters.snapshot)
        let table = try context.table()
        let etag = context.versionTag(parameters.code)
        if call.isCurrent(etag) { return .now(context.unchanged(etag)) }
        return try reply(isShort: table.count <= 2000, call) { () throws(Problem) in
            let arguments = try ArgumentDecoder(context.snapshot).decode(parameters.args)
            let query = try ObjectQuery(parameters, arguments, of: table, context)
            let (count, results) = try query.aggregate(operations.compactMap(\.request))
            let numbers = AggregateNumbers(table: table, context: context, representation: parameters.representation)
            return try numbers.answer(operations, count, results, etag)
        }
    }
}

/// One entry of `ops`: `count`, `min:age`, `avg:owner.age`.
struct AggregateOperation: Sendable {
    /// As it was written; the name of the result.
    let text: String
    /// Nil for `count`.
    let request: AggregateRequest?

    init(_ text: String) throws(Problem) {
        self.text = text
        if text == "count" {
            request = nil
            return
        }
        let functions: [String: AggregateRequest.Function] = ["min": .min, "max": .max, "sum": .sum, "avg": .average]
        guard let colon = text.firstIndex(of: ":"), let function = functions[String(text[..<colon])],
            text.index(after: colon) < text.endIndex
        else {
            throw .invalidParameter("ops", "'\(text)' is none of count, min:…, max:…, sum:…, avg:…")
        }
        request = AggregateRequest(function, String(text[text.index(after: colon)...]))
    }
}

/// Writes the results of aggregates.
struct AggregateNumbers {
    let table: Table
    let context: ReadContext
    let representation: Representation

    func answer(
        _ operations: [AggregateOperation], _ count: Int, _ results: [AggregateResult], _ etag: String
    ) throws(Problem) -> Response {
        var values = ValueWriter(representation)
        var writer = JSONWriter()
        writer.beginObject()
        var remaining = results[...]
        for operation in operations {
            writer.key(operation.text)
            guard let request = operation.request else {
                values.write(.int(Int64(count)), to: &writer)
                continue
            }
            guard case .value(let value)? = remaining.popFirst() else {
                throw Problem(.aggregateOverflow, "the sum '\(operation.text)' does not fit into 64 bits").with(
                    "parameter", "ops")
            }
            if isMixed(request.path) { values.writeMixed(value, to: &writer) } else { values.write(value, to: &writer) }
        }
        context.writeVersion(to: &writer)
        writer.endObject()
        return context.answer(writer.buffer, type: representation.mediaType, etag: etag, notes: values.notes)
    }

    private func isMixed(_ path: String) -> Bool {
        (try? KeyPath.resolve(
            path, from: table, in: context.snapshot, mapping: context.database.backlinkNames.mapping))?.property?.type == .mixed
    }
}
