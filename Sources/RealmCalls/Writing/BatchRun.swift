// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Applies the operations of one batch in order; each sees the changes of those before it.
///
/// A run belongs to the writer's thread and to one transaction, and is used once. It collects the results of operations and
/// writes them at the end, so that the objects in the response show the state after the last operation. An error ends the run;
/// the engine then rolls back everything that the batch changed.
package final class BatchRun {
    /// The write in progress: its session, and the means to show objects in the response.
    private let context: WriteContext
    /// The outcomes of the operations that were applied so far, in their order.
    private var results: [Outcome] = []
    /// The keys of objects that a later operation may have deleted, by the index of the operation that named them.
    ///
    /// The key of a result is that of its object at the end of the batch. For an object that no longer exists by then, the key is
    /// the one from before the first operation that deletes objects.
    private var knownKeys: [Int: String] = [:]
    /// The names of the classes of the operations that were applied so far.
    private var classNames: [String] = []
    /// The index of the first operation behind those that could not be carried out together.
    private var singleUpTo = 0
    /// The number of results, from the first on, whose keys are in `knownKeys`.
    private var knownCount = 0
    /// The bytes of all keys that are kept for the response.
    private var keyBytes = 0

    /// The engine's session, in which all changes are made.
    private var session: WriteSession { context.session }

    /// The result of one operation.
    ///
    /// Objects are kept by their place only. Their keys, and the objects themselves, are read when all operations are done.
    private enum Outcome {
        /// An object was written or asserted.
        ///
        /// `isCreated` is nil where the response does not say it. `shows` states whether the object
        /// belongs in the response when the client asks for representations.
        case object(ObjectPlace, isCreated: Bool?, shows: Bool)
        /// One object was deleted. Its key was read before, because it cannot be read afterwards.
        case deleted(key: String)
        /// An operation on a query was applied to, or found, so many objects.
        case matched(Int)
        /// A property was incremented to this value, which the response shows.
        case value(ObjectPlace, Value)
        /// A collection of the object was changed and has so many elements after it.
        case count(ObjectPlace, Int)
    }

    /// Prepares a run inside a transaction.
    ///
    /// - Parameters:
    ///   - context: The write that the batch is. It must stay on the writer's thread.
    package init(_ context: WriteContext) {
        self.context = context
    }

    /// Applies the operations in order and returns the response, which lacks only the version.
    ///
    /// The deadline of the write is checked before each operation.
    ///
    /// - Throws: The problem of the first operation that fails, with `op` and, where the input is
    ///   at fault, `pointer`; `deadline_exceeded` when the time for the write is used up; `answer_too_large` when the
    ///   results have too many bytes.
    package func run(_ operations: [BatchOperation]) throws(Problem) -> WriteDraft {
        results.reserveCapacity(operations.count)
        var next = 0
        while next < operations.count {
            try Problem.written(session.checkDeadline())
            let together = try createTogether(operations[next...])
            next += together
            if together > 0 { continue }
            let operation = operations[next]
            next += 1
            do throws(Problem) {
                results.append(try perform(operation))
                classNames.append(operation.className)
            } catch {
                throw operation.place.describe(error, hasPointer: false)
            }
        }
        return try draft()
    }

    // MARK: - Operations

    /// The number of operations from which on it pays to find out whether they can be carried out together.
    private static let leastTogether = 8

    /// Carries out the operations at the beginning that create objects of the same class in the same way, together.
    ///
    /// - Returns: The number of operations carried out; 0 when the first has to be carried out alone.
    private func createTogether(_ operations: ArraySlice<BatchOperation>) throws(Problem) -> Int {
        guard let first = operations.first, case .create(let className, _, nil, let policy, false) = first.kind else { return 0 }
        var bodies: [InputReader.Reading] = []
        for operation in operations.prefix(WriteSession.groupCount) {
            guard case .create(className, let body, nil, policy, false) = operation.kind else { break }
            bodies.append(body)
        }
        // Those that cannot be carried out together are not tried again with one less, but one by one.
        guard bodies.count >= BatchRun.leastTogether, operations.startIndex >= singleUpTo else { return 0 }
        let maker = ObjectMaker(className: className, policy: policy, input: input(false))
        let start = operations.startIndex
        let made: [WriteSession.Written]?
        do throws(Problem) {
            made = try maker.makeTogether(bodies[...], { operations[start + $0].place.inside("body") }, session)
        } catch {
            throw first.place.describe(error, hasPointer: false)
        }
        guard let made else {
            singleUpTo = start + bodies.count
            return 0
        }
        for one in made {
            results.append(.object(one.place, isCreated: true, shows: true))
            classNames.append(className)
        }
        return made.count
    }

    /// Applies one operation and returns its result.
    private func perform(_ operation: BatchOperation) throws(Problem) -> Outcome {
        let place = operation.place
        switch operation.kind {
        case .create(let className, let body, let name, let policy, let nested):
            let maker = ObjectMaker(className: className, policy: policy, input: input(nested))
            let written = try maker.make(body, place.inside("body"), as: name, session)
            return .object(written.place, isCreated: written.isCreated, shows: true)
        case .put(let target, let body, let nested):
            return try put(target, body, nested: nested, at: place)
        case .patch(let target, let patch, let nested):
            let object = try require(target, place)
            let written = try patch.apply(to: object, session, input(nested), at: place.inside("body"))
            return .object(written.place, isCreated: nil, shows: true)
        case .delete(let target): return try delete(target, place)
        case .increment(let target, let property, let amount):
            return try increment(target, property, by: amount, at: place)
        case .query(let kind): return try perform(kind, place)
        case .collection(let kind, let target, let property, let steps):
            return try edit(kind, target, property, steps: steps, at: place)
        }
    }

    /// Returns how the engine treats the inputs of an operation: whether nested objects are written, and whether unknown
    /// members are ignored, which `Prefer: handling=lenient` of the whole request decides.
    private func input(_ nested: Bool) -> WriteSession.Options {
        WriteSession.Options(writesNestedObjects: nested, ignoresUnknownMembers: context.options.preferences.isLenient)
    }

    /// Finds the object of a target and compares the conditions of the operation with it.
    ///
    /// - Throws: `object_not_found`, `class_not_found` or `precondition_failed`.
    private func require(_ target: BatchOperation.ObjectTarget, _ place: InputPlace) throws(Problem) -> ObjectPlace {
        guard let found = try find(target, place) else {
            throw Problem(
                try Problem.written(session.missing(target.key, class: target.className), at: place))
        }
        try context.check(target.condition, found, at: place)
        return found
    }

    /// Finds the object of a target; nil when there is none. Throws `class_not_found` when there is no such class.
    private func find(_ target: BatchOperation.ObjectTarget, _ place: InputPlace) throws(Problem) -> ObjectPlace? {
        try Problem.written(session.find(target.key, class: target.className), at: place)
    }

    /// Creates or replaces an object.
    ///
    /// The conditions are compared before the body is examined, so a failed condition is reported
    /// even when the body has errors as well.
    private func put(
        _ target: BatchOperation.ObjectTarget, _ body: InputReader.Reading, nested: Bool, at place: InputPlace
    ) throws(Problem) -> Outcome {
        let key = try Problem.written(session.resolve(target.key, class: target.className), at: place)
        try context.check(target.condition, key.place, at: place)
        let inner = place.inside("body")
        let object = try body.value(at: inner)
        let written = try Problem.written(session.put(key, object, options: input(nested)), at: inner)
        return .object(written.place, isCreated: written.isCreated, shows: true)
    }

    /// Reads the keys of all objects in the results so far, and keeps them in `knownKeys`.
    ///
    /// It is called before objects are deleted, because the key of a deleted object cannot be read.
    /// Each result is read at most once in a batch.
    private func rememberKeys() throws(Problem) {
        for index in knownCount..<results.count {
            switch results[index] {
            case .object(let place, _, _), .value(let place, _), .count(let place, _):
                if knownKeys[index] == nil { knownKeys[index] = try keyText(of: place).map(kept) }
            case .deleted, .matched: break
            }
        }
        knownCount = results.count
    }

    /// Counts a key that is kept for the response, and returns it.
    private func kept(_ key: String) throws(Problem) -> String {
        keyBytes += key.utf8.count
        try context.requireRoom(for: keyBytes)
        return key
    }

    /// Returns the key of an object as it is at this moment; nil when the object does not exist.
    private func keyText(of place: ObjectPlace) throws(Problem) -> String? {
        try Problem.written(session.keyText(of: place))
    }

    /// Deletes one object. Its key is read before, for the response.
    private func delete(_ target: BatchOperation.ObjectTarget, _ place: InputPlace) throws(Problem) -> Outcome {
        let found = try require(target, place)
        try rememberKeys()
        let key = try keyText(of: found) ?? KeyText.text(found.object)
        try Problem.written(session.delete(found), at: place)
        return .deleted(key: try kept(key))
    }

    /// Adds to a numeric property and returns the new value.
    private func increment(
        _ target: BatchOperation.ObjectTarget, _ property: PropertyAddress,
        by amount: Result<InputValue, InputReader.InputError>, at place: InputPlace
    ) throws(Problem) -> Outcome {
        let found = try require(target, place)
        let amount = try amount.value(at: place.inside("by"))
        let sum = try Problem.written(session.increment(property, of: found, by: amount), at: place)
        return .value(found, sum)
    }

    // MARK: - Queries

    /// Applies an operation that has a query, or asserts something about one object.
    ///
    /// The body of a `patchWhere` is read before the query runs, so an error in it is reported even when no object matches.
    private func perform(_ kind: BatchOperation.QueryKind, _ place: InputPlace) throws(Problem) -> Outcome {
        switch kind {
        case .patch(let className, let matches, let body, let nested):
            let object = try body.value(at: place.inside("body"))
            let arguments = try arguments(matches, place)
            return .matched(
                try querying(place, inputIn: "body") { () throws(WriteError) in
                    try session.patchWhere(
                        className, matches.query, arguments: arguments, maximum: matches.maximum, object, options: input(nested))
                })
        case .delete(let className, let matches):
            try rememberKeys()
            let arguments = try arguments(matches, place)
            return .matched(
                try querying(place) { () throws(WriteError) in
                    try session.deleteWhere(className, matches.query, arguments: arguments, maximum: matches.maximum)
                })
        case .assertObject(let target, let matches):
            let found = try find(target, place)
            if let found { try context.check(target.condition, found, at: place) }
            let arguments = try arguments(matches, place)
            return .object(
                try querying(place) { () throws(WriteError) in
                    try session.assert(found, matches?.query, arguments: arguments)
                }, isCreated: nil, shows: false)
        case .assertCount(let className, let matches, let count):
            let arguments = try arguments(matches, place)
            return .matched(
                try querying(place) { () throws(WriteError) in
                    try session.assert(className, matches?.query ?? .all, arguments: arguments, count: count)
                })
        }
    }

    /// Decodes the arguments of a query against the state of the transaction, where links among them are looked up.
    private func arguments(_ matches: Selection?, _ place: InputPlace) throws(Problem) -> [QueryArgument] {
        guard let matches else { return [] }
        do throws(Problem) { return try matches.arguments(context) } catch { throw error.relocated(to: place) }
    }

    /// Runs a step whose errors come from a query or from an input, and adds the place of the culprit.
    ///
    /// An error of the query points to `where`. An error inside an input points into the member
    /// called `name`, any other one to the operation.
    private func querying<Result>(
        _ place: InputPlace, inputIn name: String? = nil, _ body: () throws(WriteError) -> Result
    ) throws(Problem) -> Result {
        do throws(WriteError) {
            return try body()
        } catch {
            if error.code == .query { throw place.inside("where").describe(Problem(error)) }
            throw Problem(error, at: error.path.steps.isEmpty ? place : name.map(place.inside) ?? place)
        }
    }

    // MARK: - Collections

    /// Changes a collection step by step. The object is looked up once, before the first step.
    private func edit(
        _ kind: CollectionKind, _ target: BatchOperation.ObjectTarget, _ property: PropertyAddress,
        steps: [BatchOperation.CollectionStep], at place: InputPlace
    ) throws(Problem) -> Outcome {
        let object = try require(target, place)
        // A list may hold the object that it belongs to, and `deleteAll` deletes that too.
        if steps.contains(where: \.deletesObjects) {
            try rememberKeys()
            knownKeys[results.count] = try keyText(of: object).map(kept)
        }
        let edit = CollectionEdit(session: session, object: object, property: property, options: input(false))
        return .count(object, try edit.apply(steps, to: kind, at: place))
    }

    // MARK: - Answer

    /// Writes the results of all operations as a JSON array.
    ///
    /// Objects are included when the client prefers `return=representation`. They show the state after the last operation.
    private func draft() throws(Problem) -> WriteDraft {
        let showsObjects = context.options.showsObjects(byDefault: false)
        var draft = WriteDraft(status: 200, content: .none)
        if showsObjects { draft.type = context.options.representation.mediaType }
        var writer = JSONWriter(reservingCapacity: 32 + results.count * 32)
        writer.beginArray()
        for (index, result) in results.enumerated() {
            let known = knownKeys[index]
            writer.beginObject()
            switch result {
            case .object(let place, let isCreated, let shows):
                try writeKey(place, known, of: classNames[index], &writer)
                if let isCreated { writer.member("created", bool: isCreated) }
                if shows, showsObjects { try writeObject(place, &writer, &draft.notes) }
            case .deleted(let key):
                context.audit?.add(key: key, of: classNames[index])
                writer.member("key", text: key)
            case .matched(let count): writer.member("matched", int: count)
            case .value(let place, let value):
                try writeKey(place, known, of: classNames[index], &writer)
                writer.key("value")
                var values = ValueWriter(context.options.representation)
                values.write(value, to: &writer)
            case .count(let place, let count):
                try writeKey(place, known, of: classNames[index], &writer)
                writer.member("count", int: count)
            }
            writer.endObject()
            try context.requireRoom(for: writer.count)
        }
        writer.endArray()
        draft.content = .results(writer.buffer)
        return draft
    }

    /// Writes the member `key` of a result.
    ///
    /// The key is `known` if there is one, else that of the object at this moment, else the key of the form `@k…` for an object
    /// that no longer exists.
    private func writeKey(
        _ place: ObjectPlace, _ known: String?, of className: String, _ writer: inout JSONWriter
    ) throws(Problem) {
        let key = if let known { known } else { try keyText(of: place) ?? KeyText.text(place.object) }
        context.audit?.add(key: key, of: className)
        writer.member("key", text: key)
    }

    /// Writes the member `object` of a result, or null when a later operation of the batch deleted the object.
    ///
    /// Values that could not be represented exactly are added to `notes`, which become header fields of the response.
    private func writeObject(
        _ place: ObjectPlace, _ writer: inout JSONWriter, _ notes: inout RepresentationNotes
    ) throws(Problem) {
        writer.key("object")
        let view = try context.view()
        guard try context.keyText(place, in: view) != nil else { return writer.null() }
        notes.formUnion(try context.show(place, in: view, &writer).notes)
    }
}

/// Moves the pointers of problems from a member to the batch operation that has it.
extension Problem {
    /// Returns the problem with its pointer moved below an operation: `/args/0` becomes `/ops/3/assert/args/0`.
    fileprivate func relocated(to place: InputPlace) -> Problem {
        var copy = self
        copy.extensions = extensions.map { member in
            guard member.name.description == "pointer", case .text(let text) = member.value else { return member }
            return Extension(name: "pointer", value: .text(place.pointer + text))
        }
        return copy
    }
}
