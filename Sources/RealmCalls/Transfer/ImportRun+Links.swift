// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension ImportRun {
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
    func isReachable(_ value: InputValue) -> Bool {
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
    func wait(_ members: Members, _ target: ObjectPlace, for object: ImportedObject) throws(Problem) {
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

    func link(_ members: Members, _ target: ObjectPlace, of className: String, _ place: InputPlace) throws(Problem) {
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
    func property(ofMember name: String, of target: ObjectPlace) throws(WriteError) -> Column {
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
    func redirected(_ value: InputValue) throws(WriteError) -> InputValue {
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
