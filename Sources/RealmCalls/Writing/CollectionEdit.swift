// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Applies the changes that one operation of a batch makes to one collection.
///
/// It is used inside the transaction, on the writer's thread.
struct CollectionEdit {
    /// The engine's session, in which the changes are made.
    package let session: WriteSession
    /// The object that the collection belongs to. Its existence was checked before.
    package let object: ObjectPlace
    /// The property that holds the collection, or a path that leads to it through embedded objects and Mixed values.
    package let property: PropertyAddress
    /// The handling of inputs: whether nested objects are written, and unknown members ignored.
    package let options: WriteSession.Options

    /// Applies the changes in order and returns the number of elements afterwards.
    ///
    /// An error states in which step it is. A property that is no collection of this kind is an error of the operation's
    /// `property`. An empty list of steps changes nothing, but the property must still be such a collection.
    ///
    /// - Parameters:
    ///   - steps: The changes, whose form was checked when they were read.
    ///   - place: The place of the operation in the request body.
    /// - Throws: The problem of the first step that fails: `object_not_found` when a `deleteAll`
    ///   deleted the object itself and another step follows, and the errors of values that do not
    ///   fit.
    package func apply(
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
        return try Problem.written(size(kind), at: place.inside("property"))
    }

    /// Reads the value of a step and returns a closure that makes the change.
    ///
    /// Reading is a separate first step, so that an error in the value is reported with its own place.
    ///
    /// - Returns: A closure that changes the collection and returns its new number of elements.
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

    /// Returns the number of elements of the collection, by an edit without any change.
    private func size(_ kind: CollectionKind) throws(WriteError) -> Int {
        switch kind {
        case .list: return try session.editList(property, of: object, [], options: options)
        case .set: return try session.editSet(property, of: object, [], options: options)
        case .dictionary: return try session.editDictionary(property, of: object, [], options: options)
        }
    }
}
