// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The changes that one operation of a batch makes to a collection of an object.
struct CollectionEdit {
    let session: WriteSession
    let object: ObjectPlace
    let property: PropertyAddress
    let options: WriteSession.Options

    /// Makes the changes in order and returns how many elements there are then. Mistakes tell in which step they are; a
    /// property that is no such collection is a mistake of the operation at `place`.
    func apply(
        _ steps: [BatchOperation.CollectionStep], to kind: CollectionKind, at place: InputPlace
    ) throws(Problem) -> Int {
        var count: Int?
        var mayBeGone = false
        for step in steps {
            let change = try read(step, kind)
            do throws(WriteError) {
                if mayBeGone, try !session.isThere(object) {
                    throw WriteError(.objectNotFound, "there is no object with this key")
                }
                count = try change()
                mayBeGone = step.deletesObjects
            } catch {
                guard !error.path.steps.isEmpty else { throw Problem(error, at: place.inside("property")) }
                var inner = error
                inner.path = InputPath(Array(error.path.steps.dropFirst()))
                throw Problem(inner, at: step.place(ofErrorAt: inner.path))
            }
        }
        if let count { return count }
        return try Problem.writing(place.inside("property")) { () throws(WriteError) in try size(kind) }
    }

    /// Reads a step, whose value may have a mistake, and returns the change that it makes.
    private func read(
        _ step: BatchOperation.CollectionStep, _ kind: CollectionKind
    ) throws(Problem) -> () throws(WriteError) -> Int {
        switch kind {
        case .list:
            let edit = try step.listEdit()
            return { () throws(WriteError) in try session.editList(property, of: object, [edit], options: options) }
        case .set:
            let edit = try step.setEdit()
            return { () throws(WriteError) in try session.editSet(property, of: object, [edit], options: options) }
        case .dictionary:
            let edit = try step.dictionaryEdit()
            return { () throws(WriteError) in try session.editDictionary(property, of: object, [edit], options: options) }
        }
    }

    /// How many elements there are when nothing is changed.
    private func size(_ kind: CollectionKind) throws(WriteError) -> Int {
        switch kind {
        case .list: return try session.editList(property, of: object, [], options: options)
        case .set: return try session.editSet(property, of: object, [], options: options)
        case .dictionary: return try session.editDictionary(property, of: object, [], options: options)
        }
    }
}
