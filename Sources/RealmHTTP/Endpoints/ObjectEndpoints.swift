// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Reads of single objects by their keys, which are brief enough for the daemon's thread.
enum ObjectEndpoints {
    /// Answers `GET …/objects/{class}/{key}` on the daemon's thread.
    ///
    /// The entity tag is a digest of the stored values. Where other objects are shown too, by `fields` or `expand`, it is that of
    /// the version instead.
    ///
    /// - Parameter call: The call, with the class and the key in its path.
    /// - Returns: The object, or 304 when the client has that already.
    /// - Throws: `object_not_found`, `class_not_found`, or the `Problem` of a wrong parameter.
    static func get(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(call, formats: .documents)
        let context = try ReadContext(call, snapshot: parameters.snapshot, version: parameters.version)
        let table = try context.table()
        let row = try context.row(in: table)
        let plan = try context.plan(table, parameters)
        let representation = parameters.representation
        let showsOthers = parameters.showsOthers
        let encoder = ObjectEncoder(context.snapshot, representation, call.request.budget)
        /// Returns the entity tag of the response. It is cheap after the object was written, because its digest is known then.
        func tag() throws(StorageError) -> String {
            showsOthers ? context.versionTag(representation.code) : try encoder.entityTag(of: row, in: table)
        }
        return .now(
            try Problem.mapping { () throws(StorageError) in
                // The tag is needed before the object only where the response may be 304.
                if call.request[.ifNoneMatch] != nil {
                    let etag = try tag()
                    if call.isCurrent(etag) { return context.unchanged(etag) }
                }
                var writer = JSONWriter(reservingCapacity: 1024)
                try encoder.write(row, plan, to: &writer)
                try call.request.budget.requireRoom(for: writer.count)
                let etag = try tag()
                return context.answer(
                    writer.buffer, type: representation.mediaType, etag: etag, notes: encoder.notes)
            })
    }
}
