// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
package import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Writes the objects of an import inside a transaction: those of a class that follow each other together, if they are new
/// and nothing about them depends on the others, else one by one.
///
/// A link to an object that has not been read yet, or its bare key, cannot be written at once. Its property is
/// written at the end: the object is read a second time then, so that only places have to be kept
/// in memory. Objects without a primary key get new object keys, and links to them are redirected
/// to the new keys.
///
/// A run belongs to one transaction and to the thread that writes it. An import in several commits
/// makes a run for each, and passes its `Memory` on.
package final class ImportRun {
    /// What is done with an object that exists already: `create` refuses it, `upsert` writes all
    /// members that are given.
    package enum Mode: String, Sendable { case create, upsert }

    /// What has to be known from one commit of an import to the next.
    struct Memory: Sendable {
        /// The new object keys of objects that the input names by object keys, by class.
        var keys: [ByteText: KeyTranslation] = [:]
        /// The objects with links that are written at the end.
        var later: [Waiting] = []
        /// How many of them have their links, or are in `unlinked`.
        var linked = 0
        /// The objects that are left without some of their links, because the import fails.
        var unlinked: [Waiting] = []
        /// The number of objects that were created.
        var created = 0
        /// The number of objects that existed and were written into.
        var updated = 0
        /// The record of the last object that was written; nil before the first.
        var last: RecordPlace?
        /// The line of the last object of a class without primary key, which another import makes again; 0 before the first.
        var lastKeylessLine = 0
        /// The members that were ignored.
        var ignored = IgnoredMembers()

        /// What it takes in bytes, about.
        var byteCount: Int {
            2 * (later.count + unlinked.count) * MemoryLayout<Waiting>.stride + keys.values.reduce(0) { $0 + $1.byteCount }
        }
    }

    /// How far a run came that failed, so that what was right can be written again without the rest.
    struct Failure: Sendable {
        /// The record that the run began with; nil when it took none.
        let start: RecordPlace?
        /// The number of objects before the one that is wrong.
        let objectCount: Int
        /// The position in `later` of the object whose links were being written.
        let linked: Int
    }

    /// When a run stops before the end of its input, so that the rest is written by another commit.
    struct Pause {
        /// The number of objects after which it stops. Objects that get their links do not count.
        var count = Int.max
        /// The memory in bytes of its changes after which it stops.
        var byteCount = Int.max
        /// The instant after which it stops, unless it has written fewer than `leastCount` objects.
        var time = RealmPlatform.Instant.distantFuture
        /// The number of objects for which it does not look at the time.
        var leastCount = 0
    }

    /// An object that links to one which has not been read yet.
    struct Waiting: Sendable {
        /// The object key that it has in this realm.
        let object: ObjectKey
        /// The place of its record in the input, to be read again.
        let place: RecordPlace
    }

    /// Members of an object with their values, in the order of the input.
    private typealias Members = [(name: String, value: InputValue)]

    /// The engine's session of the transaction that the objects are written in.
    private let session: WriteSession
    /// Whether objects that exist are refused or written into.
    private let mode: Mode
    /// Whether members that the class does not have are ignored.
    package var isLenient = false
    /// How the session takes objects.
    private var options: WriteSession.Options { .init(ignoresUnknownMembers: isLenient) }
    /// The record of the request for the audit log, which the keys of objects are added to; nil for none.
    package var audit: AuditRecord?
    /// What was read and written so far, for the next commit of the same import.
    private(set) var memory: Memory

    /// When the import is given up, because it holds the writer; nil for the deadline of the write alone.
    package var end: RealmPlatform.Instant?

    /// The objects that were read and not written yet.
    private var group = Group()
    /// The objects that are being written.
    private var writing = Group()
    /// The record that this run began with; nil before it.
    private var start: RecordPlace?
    /// The number of objects in the groups that this run has written.
    private var writtenCount = 0

    /// The number of objects that the import created so far, earlier commits included.
    package var created: Int { memory.created }
    /// The number of objects that existed and were written into so far, earlier commits included.
    package var updated: Int { memory.updated }
    /// The members that were ignored so far.
    package var ignored: IgnoredMembers { memory.ignored }

    /// Creates a run that begins with the first object.
    package convenience init(_ session: WriteSession, _ mode: Mode) { self.init(session, mode, Memory()) }

    /// Creates a run that goes on where an earlier one stopped.
    ///
    /// - Parameters:
    ///   - session: The transaction.
    ///   - mode: What is done with objects that exist.
    ///   - memory: What the earlier runs of the same import knew at their end.
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

    /// Returns how far the run came, after it has thrown a problem.
    func failure(_ problem: Problem) -> Failure {
        let right = problem.line.map { line in writing.places.prefix { $0.line < line }.count } ?? 0
        return Failure(start: start, objectCount: writtenCount + right, linked: memory.linked)
    }

    /// Writes the next objects, and the waiting links when there are no more objects.
    ///
    /// - Parameters:
    ///   - reader: The reader, which is advanced.
    ///   - pause: When to stop.
    /// - Returns: Whether there may be more; false when the import is complete.
    /// - Throws: The first error, with `line` where it is one of an object.
    func run(_ reader: inout ImportReader, until pause: Pause) throws(Problem) -> Bool {
        defer {
            memory.ignored.formUnion(session.ignored)
            memory.ignored.formUnion(reader.ignored)
        }
        var left = pause.count
        while left > 0, goesOn(pause, after: pause.count - left) {
            try requireTime()
            try reader.readAhead { className throws(Problem) in
                try Problem.writing { () throws(WriteError) in try session.rowShapes(of: className) }
            }
            let item: ImportReader.Item?
            do throws(Problem) { item = try reader.next(atMost: min(left, WriteSession.groupCount)) } catch {
                // What is wrong with an earlier line is reported first.
                try writeGroup(reader)
                throw error
            }
            switch item {
            case .object(let object)?:
                left -= 1
                start = start ?? object.place
                if !group.takes(object) { try writeGroup(reader) }
                group.add(object)
                if group.isFull { try writeGroup(reader) }
            case .rows(let rows, let places)?:
                left -= places.count
                start = start ?? places.first
                if !group.takes(rows) { try writeGroup(reader) }
                group.add(rows, places)
                if group.isFull { try writeGroup(reader) }
            case .schema(let schema)?:
                try writeGroup(reader)
                try Problem.writing { () throws(WriteError) in
                    if try session.schema().classes.isEmpty { try session.createSchema(schema, versionIfMissing: nil) }
                }
            case .blank?: try Problem.writing { () throws(WriteError) in try session.checkDeadline() }
            case nil:
                try writeGroup(reader)
                return try link(reader, until: pause)
            }
        }
        try writeGroup(reader)
        return true
    }

    /// Returns whether the next objects belong to the same commit as the `count` before them.
    private func goesOn(_ pause: Pause, after count: Int) -> Bool {
        guard session.usedBytes < pause.byteCount else { return false }
        return count < pause.leastCount || pause.time.isDistantFuture || RealmPlatform.Instant.now() < pause.time
    }

    /// Throws `deadline_exceeded` when the import holds the writer for too long.
    private func requireTime() throws(Problem) {
        guard let end, RealmPlatform.Instant.now() >= end else { return }
        throw Problem(
            .deadlineExceeded, "the import takes too long for one commit; 'atomic=false' commits it in parts"
        ).with("limitName", "import-seconds")
    }

    /// Writes the links that waited for their targets.
    ///
    /// - Parameters:
    ///   - reader: The reader, which reads the objects again.
    ///   - pause: When to stop.
    ///   - leavesMissing: Whether objects with missing link targets become `unlinked`. Otherwise the first one is an error.
    /// - Returns: Whether some are left for another commit.
    /// - Throws: The first error, with `line` where it is one of an object.
    func link(_ reader: ImportReader, until pause: Pause, leavesMissing: Bool = false) throws(Problem) -> Bool {
        session.keptBytes = memory.byteCount
        let first = memory.linked
        while memory.linked < memory.later.count {
            let waiting = memory.later[memory.linked]
            let isWhole = try link(try reader.object(at: waiting.place), waiting.object, leavesMissing: leavesMissing)
            if !isWhole { memory.unlinked.append(waiting) }
            memory.linked += 1
            try requireTime()
            guard goesOn(pause, after: memory.linked - first) else { break }
        }
        guard memory.linked == memory.later.count else { return true }
        memory.later = []
        memory.linked = 0
        return false
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

        /// Whether there is enough to be written.
        var isFull: Bool { places.count >= WriteSession.groupCount || byteCount >= Group.longest }

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
            byteCount += object.place.byteCount
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
        session.keptBytes = memory.byteCount
        try Problem.writing(InputPlace(line: first.line)) { () throws(WriteError) in try session.checkDeadline() }
        if let rows, try !writeTogether(rows, places) {
            // Those that follow are likely to exist, too.
            reader.endRows()
            for place in places { try write(try namingLinks(in: try reader.object(at: place))) }
        }
        let objects = try namingLinks(in: read)
        if !objects.isEmpty, try !writeTogether(objects) { for object in objects { try write(object) } }
        let isKeyed = try Problem.writing(InputPlace(line: last.line)) { () throws(WriteError) in
            try session.hasPrimaryKey(rows?.shape.className ?? read[0].className)
        }
        if !isKeyed { memory.lastKeylessLine = last.line }
        memory.last = last
        writtenCount += places.count
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
                memory.later.append(Waiting(object: made[row].place.object, place: objects[row].place))
            }
        }
        return true
    }

    /// Notes what has to be known of an object that was written.
    private func note(_ object: ImportedObject, _ place: ObjectPlace, isCreated: Bool) throws(Problem) {
        if isCreated { memory.created += 1 } else { memory.updated += 1 }
        if let old = object.key.flatMap(KeyText.objectKey) {
            memory.keys[object.className, default: KeyTranslation()].record(old, place.object)
        }
        try record(place, object.className)
    }

    /// Writes one object. Its members with links are left for the end, unless all of them can be
    /// followed already.
    ///
    /// - Parameter object: The object, with links in place of bare keys.
    private func write(_ object: ImportedObject) throws(Problem) {
        let place = InputPlace(line: object.line)
        var (plain, linked) = ImportRun.divided(try object.body.value(at: place))
        if !linked.isEmpty, linked.allSatisfy({ isReachable($0.value) }) {
            plain += linked.map { (name: $0.name, value: redirected($0.value)) }
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
        if !linked.isEmpty { memory.later.append(Waiting(object: written.place.object, place: object.place)) }
    }

    /// Adds the key of an object that was written to the record of the request.
    private func record(_ place: ObjectPlace, _ className: String) throws(Problem) {
        guard let audit else { return }
        guard audit.takesMoreKeys else { return audit.countKey() }
        let key = try Problem.writing { () throws(WriteError) in try session.keyText(of: place) }
        audit.add(key: key ?? KeyText.text(place.object), of: className)
    }

    /// Returns objects of one class with links in place of bare keys.
    private func namingLinks(in objects: [ImportedObject]) throws(Problem) -> [ImportedObject] {
        guard let first = objects.first else { return objects }
        let hasLinks = try Problem.writing(InputPlace(line: first.line)) { () throws(WriteError) in
            try session.hasLinks(first.className)
        }
        guard hasLinks else { return objects }
        var named: [ImportedObject] = []
        named.reserveCapacity(objects.count)
        for object in objects { named.append(try namingLinks(in: object)) }
        return named
    }

    /// Returns an object with links in place of bare keys, which may be those of objects that come later.
    private func namingLinks(in object: ImportedObject) throws(Problem) -> ImportedObject {
        guard case .success(let body) = object.body else { return object }
        let named = try Problem.writing(InputPlace(line: object.line)) { () throws(WriteError) in
            try session.namingLinks(in: body, of: object.className)
        }
        var object = object
        object.body = .success(named)
        return object
    }

    /// Separates the members of an object: those without links, and those with a link somewhere inside.
    private static func divided(_ body: InputObject) -> (plain: Members, linked: Members) {
        var plain: Members = []
        var linked: Members = []
        for member in body.members {
            if member.value.hasLink { linked.append(member) } else { plain.append(member) }
        }
        return (plain, linked)
    }

    // MARK: - Links

    /// Whether every object that a value links to exists already, under its old or its new key.
    /// What is not found yet is tried again at the end.
    private func isReachable(_ value: InputValue) -> Bool {
        switch value {
        case .link(.stub(let className, let key)):
            if case .text(let text) = key, let old = KeyText.objectKey(text) {
                return memory.keys[className]?.new(old) != nil
            }
            do throws(WriteError) {
                return try session.find(key, class: className) != nil
            } catch {
                return false
            }
        case .list(let elements): return elements.allSatisfy(isReachable)
        case .object(let object): return object.members.allSatisfy { isReachable($0.value) }
        default: return true
        }
    }

    /// Writes the members with links of an object, at the end of the import. Returns whether all of them could be written.
    ///
    /// A target that is still missing is an error then, unless members with links to such are left out.
    private func link(_ imported: ImportedObject, _ object: ObjectKey, leavesMissing: Bool) throws(Problem) -> Bool {
        let place = InputPlace(line: imported.line)
        let linked = ImportRun.divided(try namingLinks(in: imported).body.value(at: place)).linked
        let target = try Problem.writing(place) { () throws(WriteError) in
            try session.checkDeadline()
            let name = ObjectName.objectKey(object)
            return leavesMissing
                ? try session.find(name, class: imported.className) : try session.require(name, class: imported.className)
        }
        // Other writes may have deleted it between two commits of the import.
        guard let target else { return false }
        let known = leavesMissing ? linked.filter { isReachable($0.value) } : linked
        try link(known, target, of: imported.className, place)
        return known.count == linked.count
    }

    /// Writes members with links of an object.
    private func link(_ members: Members, _ target: ObjectPlace, of className: String, _ place: InputPlace) throws(Problem) {
        try Problem.writing(place) { () throws(WriteError) in
            for member in members {
                let name = MemberNaming.documents.property(member.name)
                do throws(WriteError) {
                    try session.setProperty(try session.property(name, of: target), of: target, to: redirected(member.value))
                } catch {
                    // An unknown name is an unknown member of the object here, not a missing path.
                    var inner = error
                    inner.path = error.path.inside(.name(member.name))
                    if error.code == .notFound, isLenient {
                        memory.ignored.add(member.name, of: className)
                        continue
                    }
                    if error.code == .notFound { inner.code = .unknownProperty }
                    throw inner
                }
            }
        }
    }

    /// Returns the value with its links leading to the keys that the objects have in this realm.
    private func redirected(_ value: InputValue) -> InputValue {
        switch value {
        case .link(.stub(let className, .text(let key))):
            guard let old = KeyText.objectKey(key), let new = memory.keys[className]?.new(old) else { return value }
            return .link(.stub(className: className, key: .objectKey(new)))
        case .list(let elements): return .list(elements.map(redirected))
        case .object(let object):
            return .object(InputObject(object.members.map { (name: $0.name, value: redirected($0.value)) }))
        default: return value
        }
    }
}

/// Finds out whether an input needs other objects to exist.
extension InputValue {
    /// Whether the value is a link or contains one.
    fileprivate var hasLink: Bool {
        switch self {
        case .link: return true
        case .list(let elements): return elements.contains { $0.hasLink }
        case .object(let object): return object.members.contains { $0.value.hasLink }
        default: return false
        }
    }
}
