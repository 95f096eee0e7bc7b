// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Writes the answer to a request for aggregates, such as `{"count":12,"max:age":9}`.
struct AggregateNumbers {
    /// The class whose objects were aggregated.
    let table: Table
    /// The version that was read, and the request.
    let context: ReadContext
    /// How numbers are written in the answer.
    let representation: Representation

    /// Returns the answer, with one member for each operation in the order of the request, and the
    /// version.
    ///
    /// - Parameters:
    ///   - operations: The entries of `ops`.
    ///   - count: How many objects matched, for the operation `count`.
    ///   - results: The results of the other operations, in their order.
    ///   - etag: The entity tag of the answer.
    /// - Throws: `aggregate_overflow` when a sum of integers does not fit into 64 bits.
    func answer(
        to operations: [AggregateOperation], count: Int, _ results: [AggregateResult], etag: String
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

    /// Whether the aggregated property is Mixed. Its results are then written with the type
    /// wrappers of Mixed values.
    private func isMixed(_ path: String) -> Bool {
        (try? KeyPath.resolve(
            path, from: table, in: context.snapshot, mapping: context.database.backlinkNames.mapping))?.property?.type == .mixed
    }
}
