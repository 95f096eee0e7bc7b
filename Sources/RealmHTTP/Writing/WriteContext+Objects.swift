// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

extension WriteContext {
    /// The object of a key. Throws `class_not_found` without the class, `object_not_found` without the object.
    func require(_ className: String, _ key: String) throws(Problem) -> ObjectPlace {
        try Problem.writing { () throws(WriteError) in try session.require(.text(key), class: className) }
    }

    /// The answer to a write of one object.
    func draft(_ written: WriteSession.Written, className: String) throws(Problem) -> WriteDraft {
        let view = try view()
        let showsObject = options.showsObjects(byDefault: true)
        var writer = JSONWriter(reservingCapacity: 1024)
        let shown = showsObject ? try show(written.place, in: view, &writer) : try identify(written.place, in: view)
        var draft = WriteDraft(
            status: written.isCreated ? 201 : showsObject ? 200 : 204, etag: shown.etag,
            content: showsObject ? .document(writer.buffer) : .none, notes: shown.notes,
            type: options.representation.mediaType)
        if written.isCreated { draft.location = ObjectAddress.object(database.name.text, className, shown.key) }
        return draft
    }
}
