// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmStorage

/// Writes what an import brings, object by object. Links to objects that come later are made in the end: their objects
/// are read a second time then, so that nothing but places has to be kept in memory.
///
/// Objects without primary key get new keys; links to them are led to the new ones.
package final class ImportRun {
    /// Whether objects that exist already are refused or written into.
    package enum Mode: String, Sendable { case create, upsert }

    /// What has to be known from one commit to the next.
    struct Memory: Sendable {
        /// New keys of objects that were named by object keys, by class.
        var keys: [String: KeyTranslation] = [:]
        /// Objects with links that wait for others.
        var later: [Waiting] = []
        var created = 0
        var updated = 0
        /// The line of the last object.
        var line = 0
    }

    /// An object that links to one which has not come yet.
    struct Waiting: Sendable {
        let object: ObjectKey
        let place: RecordPlace
    }

    private typealias Members = [(name: String, value: InputValue)]

    private let session: WriteSession
    private let mode: Mode
    private(set) var memory: Memory

    /// Objects that were made.
    package var created: Int { memory.created }
    /// Objects that existed and were written into.
    package var updated: Int { memory.updated }

    /// A run that begins with the first object.
    package convenience init(_ session: WriteSession, _ mode: Mode) { self.init(session, mode, Memory()) }

    init(_ session: WriteSession, _ mode: Mode, _ memory: Memory) {
        self.session = session
        session.byteLimit = .max
        session.naming = .documents
        self.mode = mode
        self.memory = memory
    }

    /// Everything at once.
    package func run(_ reader: ImportReader) throws(Problem) {
        var reader = reader
        while try run(&reader, count: .max) {}
    }

    /// At most `count` objects, and what waits when there are no more; false then.
    func run(_ reader: inout ImportReader, count: Int) throws(Problem) -> Bool {
        for _ in 0..<count {
            guard let item = try reader.next() else {
                for waiting in memory.later { try link(try reader.object(at: waiting.place), waiting.object) }
                memory.later = []
                return false
            }
            switch item {
            case .object(let object): try write(object)
            case .schema(let schema):
                try Problem.writing { () throws(WriteError) in
                    if try session.schema().classes.isEmpty { try session.createSchema(schema, versionIfMissing: nil) }
                }
            }
        }
        return true
    }

    private func write(_ object: ImportedObject) throws(Problem) {
        let place = InputPlace(line: object.line)
        var (plain, linked) = try members(of: object, place)
        if !linked.isEmpty, linked.allSatisfy({ isReachable($0.value) }) {
            plain += linked.map { (name: $0.name, value: redirected($0.value)) }
            linked = []
        }
        let written = try Problem.writing(place) { () throws(WriteError) in
            try session.checkDeadline()
            if mode == .upsert { return try session.upsert(object.className, InputObject(plain), .all) }
            return try session.create(object.className, InputObject(plain))
        }
        if written.isCreated { memory.created += 1 } else { memory.updated += 1 }
        memory.line = object.line
        if let old = object.key.flatMap(KeyText.objectKey)?.rawValue {
            memory.keys[object.className, default: KeyTranslation()].record(old, written.place.object.rawValue)
        }
        if !linked.isEmpty { memory.later.append(Waiting(object: written.place.object, place: object.place)) }
    }

    private func members(of object: ImportedObject, _ place: InputPlace) throws(Problem) -> (plain: Members, linked: Members) {
        let body = try object.body.value(at: place)
        var plain: Members = []
        var linked: Members = []
        for member in body.members {
            if member.value.hasLink { linked.append(member) } else { plain.append(member) }
        }
        return (plain, linked)
    }

    // MARK: - Links

    /// Whether everything that `value` leads to is there. What cannot be found now is looked for again in the end.
    private func isReachable(_ value: InputValue) -> Bool {
        switch value {
        case .link(.stub(let className, let key)):
            if case .text(let text) = key, let old = KeyText.objectKey(text)?.rawValue {
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

    private func link(_ imported: ImportedObject, _ object: ObjectKey) throws(Problem) {
        let place = InputPlace(line: imported.line)
        let linked = try members(of: imported, place).linked
        try Problem.writing(place) { () throws(WriteError) in
            try session.checkDeadline()
            var found: ObjectPlace?
            for member in linked {
                let name = MemberNaming.documents.property(member.name)
                do throws(WriteError) {
                    let target: ObjectPlace
                    if let found {
                        target = found
                    } else {
                        target = try session.require(.objectKey(object), class: imported.className)
                        found = target
                    }
                    try session.setProperty(try session.property(name, of: target), of: target, to: redirected(member.value))
                } catch {
                    // An unknown member is one of the object here, not of a path.
                    var inner = error
                    inner.path = error.path.inside(.name(member.name))
                    if error.code == .notFound { inner = WriteError(.unknownProperty, error.detail, path: inner.path) }
                    throw inner
                }
            }
        }
    }

    /// The same value with links to the objects that were made here.
    private func redirected(_ value: InputValue) -> InputValue {
        switch value {
        case .link(.stub(let className, .text(let key))):
            guard let old = KeyText.objectKey(key)?.rawValue, let new = memory.keys[className]?.new(old) else { return value }
            return .link(.stub(className: className, key: .objectKey(ObjectKey(new))))
        case .list(let elements): return .list(elements.map(redirected))
        case .object(let object):
            return .object(InputObject(object.members.map { (name: $0.name, value: redirected($0.value)) }))
        default: return value
        }
    }
}

extension InputValue {
    /// Whether there is a link somewhere in it.
    fileprivate var hasLink: Bool {
        switch self {
        case .link: return true
        case .list(let elements): return elements.contains { $0.hasLink }
        case .object(let object): return object.members.contains { $0.value.hasLink }
        default: return false
        }
    }
}
