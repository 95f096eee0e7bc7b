// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Writes the objects of an import inside a transaction: those of a class that follow each other together, if they are new
/// and nothing about them depends on the others, else one by one.
///
/// A link to an object that has not been read yet, or its bare key, cannot be written at once. Its property is written at the
/// end: the object is read a second time then, so that only places have to be kept in memory. Objects without a primary key get
/// new object keys, and links to them are redirected to the new keys.
///
/// A run belongs to one transaction and to the thread that writes it. An import in several commits
/// makes a run for each, and passes its `Memory` on.
package final class ImportRun {
    /// The handling of an object that exists already: `create` refuses it, `upsert` writes all members that are given.
    package enum Mode: String, Sendable { case create, upsert }

    /// The conditions for stopping a run before the end of its input, so that another commit writes the rest.
    struct Pause {
        /// The number of objects after which it stops. Objects that get their links do not count.
        var count = Int.max
        /// The memory in bytes of its changes after which it stops.
        var byteCount = Int.max
        /// The instant after which it stops, unless it has written fewer than `leastCount` objects.
        var time = RealmPlatform.Instant.distantFuture
        /// The number of objects for which it does not check the time.
        var leastCount = 0
    }

    /// Members of an object with their values, in the order of the input.
    typealias Members = [(name: String, value: InputValue)]

    /// The engine's session of the transaction that the objects are written in.
    let session: WriteSession
    /// Whether objects that exist are refused or written into.
    private let mode: Mode
    /// Whether members that the class does not have are ignored.
    package var isLenient = false
    /// The options of the session for objects.
    var options: WriteSession.Options { .init(ignoresUnknownMembers: isLenient) }
    /// The record of the request for the audit log, which the keys of objects are added to; nil for none.
    package var audit: AuditRecord?
    /// The state for the next commit of the same import.
    var memory: Memory

    /// The time at which the import aborts, because it holds the writer; nil for the deadline of the write alone.
    package var end: RealmPlatform.Instant?

    /// The objects that were read and not written yet.
    private var group = Group()
    /// The objects that are being written.
    private var writing = Group()
    /// The record that this run began with; nil before it.
    private var start: RecordPlace?
    /// The number of objects in the groups that this run has written.
    private(set) var writtenCount = 0
    /// The number of objects in the group that were written one by one so far.
    private var groupPosition = 0
    /// The origins of the objects that this run has written, if rules have to be checked.
    private var origins: [ObjectPlace: Origin] = [:]
    /// The origin of the object that breaks a rule; nil if none was found.
    private var broken: Origin?
    /// Whether the rule that the last check found broken may hold when later lines are written.
    var needsMore: Bool { broken?.isIncomplete ?? false }

    /// The line that was the last one to write an object, and the progress of the run by then.
    private struct Origin {
        let line: Int
        /// The number of objects that the run had written before.
        let objectCount: Int
        /// The position in `later` of the values that were being written.
        let linked: Int
        /// Whether values of the object wait for later lines.
        var isIncomplete = false
    }

    /// The number of objects that the import created so far, earlier commits included.
    package var created: Int { memory.created }
    /// The number of objects that existed and were written into so far, earlier commits included.
    package var updated: Int { memory.updated }
    /// The members that were ignored so far.
    package var ignored: IgnoredMembers { memory.ignored }
    /// Whether other clients may write between two commits of the import.
    var isInParts = false

    /// Creates a run that begins with the first object.
    package convenience init(_ session: WriteSession, _ mode: Mode) { self.init(session, mode, Memory()) }

    /// Creates a run that continues where an earlier one stopped.
    ///
    /// - Parameters:
    ///   - session: The transaction.
    ///   - mode: The handling of existing objects.
    ///   - memory: The state at the end of earlier runs of the same import.
    init(_ session: WriteSession, _ mode: Mode, _ memory: Memory) {
        self.session = session
        session.naming = .documents
        self.mode = mode
        self.memory = memory
    }

    /// Writes everything in one transaction.
    ///
    /// - Throws: The first error, with `line`.
    package func run(_ reader: ImportReader) throws(Problem) {
        var reader = reader
        while try run(&reader, until: Pause()) {}
    }

    /// Returns the progress of the run, after it has thrown a problem.
    func failure(_ problem: Problem) -> Failure {
        if let broken {
            return Failure(
                start: start, objectCount: broken.objectCount, linked: broken.linked, isIncomplete: broken.isIncomplete)
        }
        let right = problem.line.map { line in writing.places.prefix { $0.line < line }.count } ?? 0
        return Failure(start: start, objectCount: writtenCount + right, linked: memory.linked)
    }

    /// Checks that each written object satisfies the rules of the sender.
    ///
    /// - Throws: `forbidden` with the line that wrote the first object that does not.
    func checkResults() throws(Problem) {
        broken = nil
        do throws(WriteError) { try session.checkResults() } catch {
            broken = error.object.flatMap { origins[$0] }
            broken?.isIncomplete = memory.later.entries[memory.linked...].contains {
                $0.object == error.object && !$0.properties.isEmpty
            }
            throw Problem(error, at: InputPlace(line: broken?.line))
        }
    }

    /// Notes which line has written an object.
    func note(_ object: ObjectPlace, line: Int) {
        guard session.isRestricted else { return }
        origins[object] = Origin(line: line, objectCount: writtenCount + groupPosition, linked: memory.linked)
    }

    /// Writes the next objects, and the waiting links when there are no more objects.
    ///
    /// - Parameters:
    ///   - reader: The reader, which is advanced.
    ///   - pause: The conditions for stopping.
    /// - Returns: Whether there may be more; false when the import is complete.
    /// - Throws: The first error, with `line` where it is one of an object.
    func run(_ reader: inout ImportReader, until pause: Pause) throws(Problem) -> Bool {
        defer {
            memory.ignored.formUnion(session.ignored)
            memory.ignored.formUnion(reader.ignored)
        }
        broken = nil
        var left = pause.count
        // Where rights are checked, each object is written alone.
        let groupCount = session.isRestricted ? 500 : WriteSession.groupCount
        while left > 0, continues(pause, after: pause.count - left) {
            try requireTime()
            try reader.readAhead { className throws(Problem) in
                try Problem.written(session.rowShapes(of: className))
            }
            let item: ImportReader.Item?
            do throws(Problem) { item = try reader.next(atMost: min(left, WriteSession.groupCount)) } catch {
                // An error in an earlier line is reported first.
                try writeGroup(reader)
                throw error
            }
            switch item {
            case .object(let object)?:
                left -= 1
                start = start ?? object.place
                if !group.takes(object) { try writeGroup(reader) }
                group.add(object)
                if group.isFull(groupCount) { try writeGroup(reader) }
            case .rows(let rows, let places)?:
                left -= places.count
                start = start ?? places.first
                if !group.takes(rows) { try writeGroup(reader) }
                group.add(rows, places)
                if group.isFull(groupCount) { try writeGroup(reader) }
            case .schema(let schema)?:
                try writeGroup(reader)
                try Problem.writing { () throws(WriteError) in
                    if try session.schema().classes.isEmpty { try session.createSchema(schema, versionIfMissing: nil) }
                }
            case .blank?: try Problem.written(session.checkDeadline())
            case nil:
                try writeGroup(reader)
                return try link(reader, until: pause)
            }
        }
        try writeGroup(reader)
        return true
    }

    /// Returns whether the next objects belong to the same commit as the `count` before them.
    func continues(_ pause: Pause, after count: Int) -> Bool {
        guard session.usedBytes < pause.byteCount else { return false }
        return count < pause.leastCount || pause.time.isDistantFuture || RealmPlatform.Instant.now() < pause.time
    }

    /// Throws `deadline_exceeded` when the import holds the writer for too long.
    func requireTime() throws(Problem) {
        guard let end, RealmPlatform.Instant.now() >= end else { return }
        throw Problem(
            .deadlineExceeded, "the import takes too long for one commit; 'atomic=false' commits it in parts"
        ).with("limitName", "import-seconds")
    }

    // MARK: - Groups

    /// Objects of one class that follow each other in the input, read one by one or as rows.
    private struct Group {
        /// The objects that were read one by one, in the order of the input.
        private(set) var objects: [ImportedObject] = []
        /// The objects that were read as rows; nil for none.
        private(set) var rows: ObjectRows?
        /// The places of the objects, however they were read.
        private(set) var places: [RecordPlace] = []
        /// The length of all records in bytes.
        private var byteCount = 0

        /// The length in bytes of the records that are written together at most.
        private static let longest = 1 << 20
        /// The length in bytes of a record from which on it gains little from others, and may have many links. A commit does not end
        /// within a group, so fewer of them make one.
        private static let long = 4 << 10
        private static let longShare = 16

        /// Whether there is enough to be written.
        ///
        /// - Parameter limit: The number of objects to write together at most.
        func isFull(_ limit: Int) -> Bool { places.count >= limit || byteCount >= Group.longest }

        /// Whether an object can be written together with those that are there.
        func takes(_ object: ImportedObject) -> Bool {
            rows == nil && objects.last.map { $0.className == object.className } ?? true
        }

        /// Whether rows can be written together with those that are there.
        func takes(_ more: ObjectRows) -> Bool {
            guard let rows else { return objects.isEmpty }
            return rows.shape == more.shape && rows.count + more.count <= WriteSession.groupCount
        }

        /// Adds an object that the group takes.
        mutating func add(_ object: ImportedObject) {
            objects.append(object)
            places.append(object.place)
            let length = object.place.byteCount
            byteCount += length < Group.long ? length : length * Group.longShare
        }

        /// Adds rows that the group takes.
        mutating func add(_ more: ObjectRows, _ morePlaces: [RecordPlace]) {
            if rows?.append(more) == nil { rows = more }
            places += morePlaces
            for place in morePlaces { byteCount += place.byteCount }
        }
    }

    /// Writes the objects of the group.
    private func writeGroup(_ reader: ImportReader) throws(Problem) {
        writing = group
        group = Group()
        let (read, rows, places) = (writing.objects, writing.rows, writing.places)
        guard let first = places.first, let last = places.last else { return }
        session.keptBytes = memory.byteCount + origins.count * 3 * MemoryLayout<Origin>.stride
        try Problem.written(session.checkDeadline(), at: InputPlace(line: first.line))
        if let rows, try !writeTogether(rows, places) {
            // Those that follow are likely to exist, too.
            reader.endRows()
            for place in places { try write(try namingLinks(in: try reader.object(at: place))) }
        }
        let objects = try namingLinks(in: read)
        if !objects.isEmpty, try !writeTogether(objects) { for object in objects { try write(object) } }
        let isKeyed = try Problem.written(
            session.hasPrimaryKey(rows?.shape.className ?? read[0].className), at: InputPlace(line: last.line))
        if !isKeyed { memory.lastKeylessLine = last.line }
        memory.last = last
        writtenCount += places.count
        groupPosition = 0
        writing = Group()
    }

    /// Creates the objects of rows at once.
    ///
    /// - Returns: Whether that was possible; nothing is changed if not.
    private func writeTogether(_ rows: ObjectRows, _ places: [RecordPlace]) throws(Problem) -> Bool {
        let line = InputPlace(line: places.first?.line)
        let made = try Problem.writing(line) { () throws(WriteError) in
            try session.requireImport(of: rows.shape.className)
            return try session.createTogether(rows, mayExist: mode == .upsert)
        }
        guard let made else { return false }
        memory.created += made.count
        if audit != nil { for place in made { try record(place, rows.shape.className) } }
        return true
    }

    /// Creates objects at once, and writes their members with links afterwards.
    ///
    /// - Parameter objects: The objects, with links in place of bare keys.
    /// - Returns: Whether that was possible; nothing is changed if not.
    private func writeTogether(_ objects: [ImportedObject]) throws(Problem) -> Bool {
        var bodies: [InputObject] = []
        var linked: [(row: Int, members: Members)] = []
        bodies.reserveCapacity(objects.count)
        for (row, object) in objects.enumerated() {
            guard case .success(let body) = object.body else { return false }
            guard body.members.contains(where: { $0.value.hasLink }) else {
                bodies.append(body)
                continue
            }
            let parts = ImportRun.divided(body)
            bodies.append(InputObject(parts.plain))
            linked.append((row, parts.linked))
        }
        var failed: Int?
        let made: [WriteSession.Written]?
        do throws(WriteError) {
            try session.requireImport(of: objects[0].className)
            made = try session.createTogether(
                objects[0].className, bodies, mayExist: mode == .upsert, failed: &failed, options: options)
        } catch {
            throw Problem(error, at: InputPlace(line: objects[failed ?? 0].line))
        }
        guard let made else { return false }
        for (object, one) in zip(objects, made) { try note(object, one.place, isCreated: true) }
        for (row, members) in linked {
            if members.allSatisfy({ isReachable($0.value) }) {
                try link(members, made[row].place, of: objects[row].className, InputPlace(line: objects[row].line))
            } else {
                try wait(members, made[row].place, for: objects[row])
            }
        }
        return true
    }

    /// Records an object that was written, as far as later parts need it.
    private func note(_ object: ImportedObject, _ place: ObjectPlace, isCreated: Bool) throws(Problem) {
        if isCreated { memory.created += 1 } else { memory.updated += 1 }
        if isCreated, isInParts, session.isRestricted {
            memory.made[place.table, default: KeyTranslation()].record(place.object, place.object)
        }
        if let old = object.key.flatMap(KeyText.objectKey) {
            memory.keys[object.className, default: [:]][place.table, default: KeyTranslation()].record(old, place.object)
        }
        try record(place, object.className)
    }

    /// Writes one object. Its members with links are left for the end, unless all of them can be followed already.
    ///
    /// - Parameter object: The object, with links in place of bare keys.
    private func write(_ object: ImportedObject) throws(Problem) {
        let place = InputPlace(line: object.line)
        var (plain, linked) = ImportRun.divided(try object.body.value(at: place))
        if !linked.isEmpty, linked.allSatisfy({ isReachable($0.value) }) {
            try Problem.writing(place) { () throws(WriteError) in
                for member in linked { plain.append((name: member.name, value: try redirected(member.value))) }
            }
            linked = []
        }
        let written: WriteSession.Written
        do throws(Problem) {
            written = try Problem.writing(place) { () throws(WriteError) in
                try session.checkDeadline()
                try session.requireImport(of: object.className)
                // Without a primary key no object is known to exist: each is made again.
                if mode == .upsert, try session.hasPrimaryKey(object.className) {
                    return try session.upsert(object.className, InputObject(plain), .all, options: options)
                }
                return try session.create(object.className, InputObject(plain), options: options)
            }
        } catch {
            // An import has another parameter for that than single writes.
            var error = error
            error.detail = error.detail.replacing(Problem.upsertHint, with: "'mode=upsert' would update it")
            throw error
        }
        try note(object, written.place, isCreated: written.isCreated)
        note(written.place, line: object.line)
        groupPosition += 1
        if !written.isCreated {
            memory.later.replace(written.place) {
                Set((plain + linked).compactMap { try? self.property(ofMember: $0.name, of: written.place).key })
            }
        }
        if !linked.isEmpty { try wait(linked, written.place, for: object) }
    }

    /// Adds the key of an object that was written to the record of the request.
    private func record(_ place: ObjectPlace, _ className: String) throws(Problem) {
        guard let audit else { return }
        guard audit.takesMoreKeys else { return audit.countKey() }
        let key = try Problem.written(session.keyText(of: place))
        audit.add(key: key ?? KeyText.text(place.object), of: className)
    }

    /// Returns objects of one class with links in place of bare keys.
    private func namingLinks(in objects: [ImportedObject]) throws(Problem) -> [ImportedObject] {
        guard let first = objects.first else { return objects }
        let hasLinks = try Problem.written(session.hasLinks(first.className), at: InputPlace(line: first.line))
        guard hasLinks else { return objects }
        var named: [ImportedObject] = []
        named.reserveCapacity(objects.count)
        for object in objects { named.append(try namingLinks(in: object)) }
        return named
    }

    /// Returns an object with links in place of bare keys, which may be those of objects that come later.
    func namingLinks(in object: ImportedObject) throws(Problem) -> ImportedObject {
        guard case .success(let body) = object.body else { return object }
        let named = try Problem.written(session.namingLinks(in: body, of: object.className), at: InputPlace(line: object.line))
        var object = object
        object.body = .success(named)
        return object
    }

    /// Separates the members of an object: those without links, and those with a link somewhere inside.
    static func divided(_ body: InputObject) -> (plain: Members, linked: Members) {
        var plain: Members = []
        var linked: Members = []
        for member in body.members {
            if member.value.hasLink { linked.append(member) } else { plain.append(member) }
        }
        return (plain, linked)
    }
}

/// Finds out whether an input needs other objects to exist.
extension InputValue {
    /// Whether the value is a link or contains one.
    var hasLink: Bool {
        switch self {
        case .link: return true
        case .list(let elements): return elements.contains { $0.hasLink }
        case .object(let object): return object.members.contains { $0.value.hasLink }
        default: return false
        }
    }
}
