// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// One object, read.
struct ObjectEndpoints: Sendable {
    /// `GET …/objects/{class}/{key}`
    func get(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(call.request, call.limits, .object, formats: .documents)
        let context = try ReadContext(call, snapshot: parameters.snapshot)
        let table = try context.table()
        let row = try context.row(in: table)
        let plan = try context.plan(table, parameters)
        let encoder = ObjectEncoder(context.snapshot, parameters.representation, call.request.budget)
        func tag() throws(StorageError) -> String {
            parameters.showsOthers
                ? context.versionTag(parameters.representation.code) : try encoder.entityTag(of: row, in: table)
        }
        return .now(
            try Problem.mapping { () throws(StorageError) in
                // Only those who may get no object have to know its tag before.
                if call.request.headers[.ifNoneMatch] != nil {
                    let etag = try tag()
                    if call.isCurrent(etag) { return context.unchanged(etag) }
                }
                var writer = JSONWriter(reservingCapacity: 1024)
                try encoder.write(row, plan, to: &writer)
                try call.request.budget.requireRoom(for: writer.count)
                let etag = try tag()
                return context.answer(
                    writer.buffer, type: parameters.representation.mediaType, etag: etag, notes: encoder.notes)
            })
    }
}
