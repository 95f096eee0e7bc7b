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
    /// The handling of an object that exists already: `create` refuses it, `upsert` writes all members that are given.
    package enum Mode: String, Sendable { case create, upsert }

    /// The state that one commit of an import passes to the next.
    struct Memory: Sendable {
        /// The new object keys of objects that the input names by object keys, by class. A class that another client removes and adds
        /// again has another table.
        var keys: [ByteText: [TableKey: KeyTranslation]] = [:]
        /// The objects that were created, if the rights to them have to be checked, by table.
        var made: [TableKey: KeyTranslation] = [:]
        /// Objects of `made` that others have changed since, and classes of which they may have changed any.
        private var foreign: (objects: Set<ObjectPlace>, classes: Set<TableKey>) = ([], [])
        /// The values with links that are written at the end.
        var later = WaitingValues()
        /// The number of entries of `later` that are written, or are in `unlinked`.
        var linked = 0
        /// The entries of which some links are left out, because the import fails.
        var unlinked: [WaitingValues.Entry] = []
        /// The number of lines of which a value was not written at the end, because another client had changed the property.
        var overtaken = 0
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

        /// The approximate size in bytes.
        var byteCount: Int {
            later.byteCount + 2 * unlinked.count * MemoryLayout<WaitingValues.Entry>.stride
                + keys.values.joined().reduce(0) { $0 + $1.value.byteCount } + made.values.reduce(0) { $0 + $1.byteCount }
                + 3 * foreign.objects.count * MemoryLayout<ObjectPlace>.stride
        }

        /// Returns whether the import has made an object that no other client has changed since. It may complete such an object
        /// and link to it; to others it needs the same rights as any write.
        func isOwn(_ place: ObjectPlace) -> Bool {
            made[place.table]?.new(place.object) != nil && !foreign.objects.contains(place)
                && !foreign.classes.contains(place.table)
        }

        /// Records what others have changed since the commit before. An object whose sender still sees the same is as the import
        /// has left it.
        ///
        /// - Parameter session: The next transaction, with the rights of the sender and without changes.
        mutating func noteChanges(since version: Version, _ session: WriteSession) throws(Problem) {
            let (objects, classes, view) = try Problem.written(session.changes(since: version))
            foreign.classes.formUnion(classes)
            let changed = objects.filter { isOwn($0) }
            guard !changed.isEmpty else { return }
            let before = ObjectEncoder(view, Representation(), session.budget)
            let after = ObjectEncoder(try Problem.written(session.view()), Representation(), session.budget)
            for place in changed {
                let tag = try Memory.tag(of: place, before)
                let isSame = try tag == Memory.tag(of: place, after)
                if tag == nil || !isSame { foreign.objects.insert(place) }
            }
        }

        /// Returns the entity tag of an object; nil if the sender does not see it.
        private static func tag(of place: ObjectPlace, _ encoder: ObjectEncoder) throws(Problem) -> ByteText? {
            try Problem.mapping { () throws(StorageError) in
                guard let table = encoder.snapshot.table(place.table), let row = try table.find(place.object) else { return nil }
                return ByteText(try encoder.entityTag(of: row, in: table))
            }
        }
    }

    /// The progress of a failed run, so that the valid objects can be written again without the rest.
    struct Failure: Sendable {
        /// The record that the run began with; nil when it took none.
        let start: RecordPlace?
        /// The number of objects before the one that is wrong.
        let objectCount: Int
        /// The position in `later` of the object whose links were being written.
        let linked: Int
        /// Whether the object breaks a rule while values of it wait for later lines.
        var isIncomplete = false
    }

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
    private typealias Members = [(name: String, value: InputValue)]

    /// The engine's session of the transaction that the objects are written in.
    private let session: WriteSession
    /// Whether objects that exist are refused or written into.
    private let mode: Mode
    /// Whether members that the class does not have are ignored.
    package var isLenient = false
    /// The options of the session for objects.
    private var options: WriteSession.Options { .init(ignoresUnknownMembers: isLenient) }
    /// The record of the request for the audit log, which the keys of objects are added to; nil for none.
    package var audit: AuditRecord?
    /// The state for the next commit of the same import.
    private(set) var memory: Memory

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
    private func note(_ object: ObjectPlace, line: Int) {
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
    private func continues(_ pause: Pause, after count: Int) -> Bool {
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
    ///   - pause: The conditions for stopping.
    ///   - leavesMissing: Whether objects with missing link targets become `unlinked`, and get the other links. Otherwise the first one
    ///     is an error.
    /// - Returns: Whether some are left for another commit.
    /// - Throws: The first error, with `line` where it is one of an object.
    func link(_ reader: ImportReader, until pause: Pause, leavesMissing: Bool = false) throws(Problem) -> Bool {
        session.keptBytes = memory.byteCount
        let first = memory.linked
        while memory.linked < memory.later.entries.count {
            let waiting = memory.later.entries[memory.linked]
            if !waiting.properties.isEmpty {
                let isWhole = try link(try reader.object(at: waiting.place), waiting, leavesMissing: leavesMissing)
                if !isWhole { memory.unlinked.append(waiting) }
            }
            memory.linked += 1
            try requireTime()
            guard continues(pause, after: memory.linked - first) else { break }
        }
        guard memory.linked == memory.later.entries.count else { return true }
        memory.later = WaitingValues()
        memory.linked = 0
        return false
    }

    /// Writes the waiting values whose targets exist by now, before the end of the input. Returns whether there were any.
    func linkReachable(_ reader: ImportReader) throws(Problem) -> Bool {
        var hasLinked = false
        for index in memory.later.entries.indices[memory.linked...] {
            let waiting = memory.later.entries[index]
            guard !waiting.properties.isEmpty else { continue }
            let object = try reader.object(at: waiting.place)
            let linked = ImportRun.divided(try namingLinks(in: object).body.value(at: InputPlace(line: object.line))).linked
            guard linked.allSatisfy({ isReachable($0.value) }) else { continue }
            _ = try link(object, waiting, leavesMissing: false)
            memory.later.close(index)
            hasLinked = true
        }
        return hasLinked
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

    /// Writes one object. Its members with links are left for the end, unless all of them can be
    /// followed already.
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
    private func namingLinks(in object: ImportedObject) throws(Problem) -> ImportedObject {
        guard case .success(let body) = object.body else { return object }
        let named = try Problem.written(session.namingLinks(in: body, of: object.className), at: InputPlace(line: object.line))
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

    /// Returns the key in this realm of an object that the input names by an object key; nil for one that was not read yet, and the
    /// null key for one that others have deleted, or whose class they have removed.
    private func newKey(_ key: String, _ className: String) throws(WriteError) -> ObjectKey? {
        guard let old = KeyText.objectKey(key) else { return nil }
        var found: ObjectKey?
        for (table, keys) in memory.keys[className] ?? [:] {
            guard let new = keys.new(old) else { continue }
            if try session.isThere(ObjectPlace(table: table, object: new), class: className) { return new }
            found = .null
        }
        return found
    }

    /// Whether every object that a value links to exists already, under its old or its new key. Missing targets are tried again
    /// at the end.
    private func isReachable(_ value: InputValue) -> Bool {
        switch value {
        case .link(.stub(let className, let key)):
            do throws(WriteError) {
                if case .text(let text) = key, KeyText.objectKey(text) != nil {
                    return try newKey(text, className).map { $0 != .null } ?? false
                }
                return try session.find(key, class: className) != nil
            } catch {
                return false
            }
        case .list(let elements): return elements.allSatisfy(isReachable)
        case .object(let object): return object.members.allSatisfy { isReachable($0.value) }
        default: return true
        }
    }

    /// Returns a value without the links whose targets do not exist, and without the elements and members that are such; nil for
    /// such a link itself.
    private func reachable(_ value: InputValue) -> InputValue? {
        switch value {
        case .link: return isReachable(value) ? value : nil
        case .list(let elements): return .list(elements.compactMap(reachable))
        case .object(let object):
            let members = object.members.compactMap { member in reachable(member.value).map { (name: member.name, value: $0) } }
            return .object(InputObject(members))
        default: return value
        }
    }

    /// Leaves members with links of an object for the end.
    private func wait(_ members: Members, _ target: ObjectPlace, for object: ImportedObject) throws(Problem) {
        var properties: [WaitingValues.Property] = []
        try Problem.writing(InputPlace(line: object.line)) { () throws(WriteError) in
            for member in members {
                guard let property = try knownProperty(ofMember: member.name, of: target, object.className) else { continue }
                let mark = isInParts ? try session.valueMark(property, of: target) : nil
                properties.append(WaitingValues.Property(column: property.key, mark: mark))
            }
        }
        if !properties.isEmpty { memory.later.append(properties, of: target, at: object.place) }
    }

    /// Writes the members of an object that wait, at the end of the import. Returns whether all of them could be written.
    ///
    /// A target that is still missing is an error then, unless links to such are left out. Another client may have
    /// deleted or hidden the object between two commits, or have changed a property: its write came later than the line, so it remains.
    /// A sender without the right to read never saw the object, which is nothing to it when others have changed it.
    private func link(
        _ imported: ImportedObject, _ waiting: WaitingValues.Entry, leavesMissing: Bool
    ) throws(Problem) -> Bool {
        let place = InputPlace(line: imported.line)
        var linked = ImportRun.divided(try namingLinks(in: imported).body.value(at: place)).linked
        let target = waiting.object
        var isOvertaken = false
        let isThere = try Problem.writing(place) { () throws(WriteError) in
            try session.checkDeadline()
            guard try session.isThere(target) else { return false }
            guard try session.knows(target) else {
                isOvertaken = !session.mayRead(target)
                return false
            }
            _ = try session.require(.objectKey(target.object), class: imported.className)
            var waits: Members = []
            var open = waiting.properties
            for member in linked {
                guard let property = try currentProperty(ofMember: member.name, of: target),
                    let position = open.firstIndex(where: { $0.column == property.key })
                else { continue }
                let state = open.remove(at: position)
                let mark = isInParts ? try session.valueMark(property, of: target) : state.mark
                if mark == state.mark { waits.append(member) } else { isOvertaken = true }
            }
            // A migration has renamed, replaced or removed the property.
            if !open.isEmpty { isOvertaken = true }
            linked = waits
            return true
        }
        if isOvertaken { memory.overtaken += 1 }
        guard isThere else { return true }
        note(target, line: imported.line)
        guard leavesMissing, !linked.allSatisfy({ isReachable($0.value) }) else {
            try link(linked, target, of: imported.className, place)
            return true
        }
        let known = linked.compactMap { member in reachable(member.value).map { (name: member.name, value: $0) } }
        try link(known, target, of: imported.className, place)
        return false
    }

    private func link(_ members: Members, _ target: ObjectPlace, of className: String, _ place: InputPlace) throws(Problem) {
        try Problem.writing(place) { () throws(WriteError) in
            for member in members {
                guard let property = try knownProperty(ofMember: member.name, of: target, className) else { continue }
                do throws(WriteError) {
                    try session.setProperty(property, of: target, to: try redirected(member.value), options: options)
                } catch {
                    var inner = error
                    inner.path = error.path.inside(.name(member.name))
                    throw inner
                }
            }
        }
    }

    /// Returns the property of an object that a member refers to.
    ///
    /// - Throws: `WriteError` with the code `notFound`.
    private func property(ofMember name: String, of target: ObjectPlace) throws(WriteError) -> Column {
        try session.property(MemberNaming.documents.property(name), of: target)
    }

    /// Returns the property that a waiting member refers to now; nil if it no longer exists.
    private func currentProperty(ofMember name: String, of target: ObjectPlace) throws(WriteError) -> Column? {
        do throws(WriteError) { return try property(ofMember: name, of: target) } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// Returns the property of an object that a member refers to; nil for an unknown one that is ignored.
    private func knownProperty(
        ofMember name: String, of target: ObjectPlace, _ className: String
    ) throws(WriteError) -> Column? {
        do throws(WriteError) {
            return try property(ofMember: name, of: target)
        } catch {
            // An unknown name is an unknown member of the object here, not a missing path.
            var inner = error
            inner.path = error.path.inside(.name(name))
            guard error.code == .notFound else { throw inner }
            guard !isLenient else {
                memory.ignored.add(name, of: className)
                return nil
            }
            inner.code = .unknownProperty
            throw inner
        }
    }

    /// Returns the value with its links leading to the keys that the objects have in this realm.
    private func redirected(_ value: InputValue) throws(WriteError) -> InputValue {
        switch value {
        case .link(.stub(let className, .text(let key))):
            guard let new = try newKey(key, className) else { return value }
            return .link(.stub(className: className, key: .objectKey(new)))
        case .list(let elements): return .list(try elements.map(redirected))
        case .object(let object):
            let members = try object.members.map { member throws(WriteError) in
                (name: member.name, value: try redirected(member.value))
            }
            return .object(InputObject(members))
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
