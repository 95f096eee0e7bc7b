// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Finds the one object that a write is about, and makes the response for it.
extension WriteContext {
    /// Returns the place of the object that a class and a key text name.
    ///
    /// - Throws: `class_not_found`, `object_not_found`, or `method_not_allowed` for an embedded
    ///   class.
    package func require(_ className: String, _ key: String) throws(Problem) -> ObjectPlace {
        try Problem.written(session.require(.text(key), class: className))
    }

    /// Returns the response to a write of one object: the representation, or its entity tag alone for `return=minimal`.
    ///
    /// The status is 201 with `Location` for a new object, 200 for a representation and 204 without a body.
    ///
    /// - Parameters:
    ///   - written: The object, and whether it was created.
    ///   - className: The class of the object, for `Location`.
    package func draft(_ written: WriteSession.Written, className: String) throws(Problem) -> WriteDraft {
        let view = try view()
        guard try isVisible(written.place, in: view) else { return try unseen(written, className: className) }
        let showsObject = options.showsObjects(byDefault: true)
        var writer = JSONWriter(reservingCapacity: 1024)
        let shown = showsObject ? try show(written.place, in: view, &writer) : try identify(written.place, in: view)
        audit?.add(key: shown.key)
        var draft = WriteDraft(
            status: written.isCreated ? 201 : showsObject ? 200 : 204, etag: shown.etag,
            content: showsObject ? .document(writer.buffer) : .none, notes: shown.notes,
            type: options.representation.mediaType)
        if written.isCreated { draft.location = ObjectAddress.object(database.name.text, className, shown.key) }
        return draft
    }

    /// Returns the response to a write of an object that its sender may write, but not read.
    private func unseen(_ written: WriteSession.Written, className: String) throws(Problem) -> WriteDraft {
        var draft = WriteDraft(status: written.isCreated ? 201 : 204, content: .none)
        let key = try Problem.written(session.keyText(of: written.place))
        if let key { audit?.add(key: key) }
        if written.isCreated, let key {
            draft.location = ObjectAddress.object(database.name.text, className, key)
        }
        return draft
    }
}
