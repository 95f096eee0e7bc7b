// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

extension Application {
    /// `GET …/objects/{class}/{key}`
    func object(_ call: Call) throws(Problem) -> Response {
        let parameters = try ReadParameters(call, .object, formats: .documents)
        let context = try ReadContext(call)
        let table = try context.table()
        let row = try context.row(in: table)
        let plan = try context.plan(table, parameters)
        let encoder = ObjectEncoder(context.snapshot, parameters.representation)
        return try Problem.mapping { () throws(StorageError) in
            let etag = parameters.showsOthers
                ? context.versionTag(parameters.representation.code) : try encoder.entityTag(of: row, in: table)
            if call.isCurrent(etag) { return context.unchanged(etag) }
            var writer = JSONWriter(reservingCapacity: 1024)
            try encoder.write(row, plan, to: &writer)
            return context.answer(
                writer.buffer, type: parameters.representation.mediaType, etag: etag, notes: encoder.notes)
        }
    }
}
