// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Merges assigned values with the stored parts that are hidden from the writer.
///
/// Embedded objects, and collections in mixed values, may have properties that are hidden from the sender, and links that read as
/// null or are left out. When the sender assigns such a value as a whole, these parts stay: the value is written into the one
/// that is there. Of a list it is found out first which element is which (`ElementPairing`), and an assignment that leaves this
/// open is refused if something unseen would be lost. A value that the sender removes, or replaces by one of another kind, goes
/// with all its parts.
extension WriteSession {
    // MARK: - By the schema

    /// Returns whether objects of a class may have parts inside of them that the sender of the write does not see or may not write: in
    /// embedded objects and mixed values, and for an embedded class also properties and links of its own.
    func mayHoldUnseen(_ table: TableState) throws(WriteError) -> Bool {
        guard let restriction else { return false }
        return try restriction.mayHoldUnseen(table.key) { () throws(WriteError) in
            var known: Set<TableKey> = [table.key]
            var waiting = [table]
            while let table = waiting.popLast() {
                if table.kind == .embedded, !(fields(of: table)?.isEmpty ?? true) { return true }
                for column in table.columns {
                    if column.type == .mixed, restriction.mayHideAny { return true }
                    guard column.type == .link, let key = column.targetTable else { continue }
                    let target = try self.table(key)
                    if target.kind == .embedded {
                        if known.insert(key).inserted { waiting.append(target) }
                    } else if table.kind == .embedded, restriction.mayHide(key) {
                        return true
                    }
                }
            }
            return false
        }
    }

    /// Returns whether elements or entries of a collection that is assigned may have such parts, or may not be seen themselves.
    func mayHoldUnseen(_ place: CollectionPlace, _ rule: WriteRule) throws(WriteError) -> Bool {
        guard let restriction else { return false }
        if case .create = rule { return false }
        let shape = place.elementShape
        switch shape.type {
        case .mixed: return restriction.mayHideAny
        case .link:
            guard let target = shape.target else { return false }
            let table = try table(target)
            return table.kind == .embedded ? try mayHoldUnseen(table) : restriction.mayHide(target)
        default: return false
        }
    }

    /// Returns the embedded object in a slot that an assignment writes into, because the sender may not see or write all of it; nil
    /// when there is none.
    func embeddedWithUnseen(in slot: Slot, of table: TableState) throws(WriteError) -> ObjectPlace? {
        try mayHoldUnseen(table) ? try embedded(in: slot) : nil
    }

    /// Returns the collection in a mixed slot that an assignment of the same kind writes into, because it may have links that the
    /// sender does not see; nil when there is none.
    func collectionWithUnseen(_ kind: CollectionKind, in slot: Slot) throws(WriteError) -> CollectionPlace? {
        guard restriction?.mayHideAny ?? false else { return nil }
        switch (kind, try storedValue(in: slot)) {
        case (.list, .list?), (.dictionary, .dictionary?): return slot.collection
        default: return nil
        }
    }

    // MARK: - Stored values

    /// The maximum depth of the search. In a damaged file embedded objects may form a cycle.
    static let depthOfUnseen = 200

    /// Returns whether a stored value has parts that the sender does not see, or is such a link itself. Properties that are hidden
    /// count whatever their value is, so that nothing is learnt of it.
    private func hasUnseen(_ value: Value, in slot: Slot, depth: Int = 0) throws(WriteError) -> Bool {
        guard depth < WriteSession.depthOfUnseen else { return true }
        try spend(WriteSession.unitsPerElement)
        switch value {
        case .list: return try hasUnseen(slot.collection, .list, depth: depth + 1)
        case .dictionary: return try hasUnseen(slot.collection, .dictionary, depth: depth + 1)
        case .link(let key, let object):
            let table = try table(key)
            guard table.kind == .embedded else { return try isHiddenLink(value) }
            guard try mayHoldUnseen(table) else { return false }
            if let hidden = fields(of: table)?.hidden, !hidden.isEmpty { return true }
            let place = ObjectPlace(table: key, object: object)
            for column in table.columns where column.type == .link || column.type == .mixed {
                if let kind = column.collection {
                    if try hasUnseen(CollectionPlace(key, object, column), kind, depth: depth + 1) { return true }
                } else if let value = try storedValue(in: .property(place, column)),
                    try hasUnseen(value, in: .property(place, column), depth: depth + 1)
                {
                    return true
                }
            }
            return false
        default: return false
        }
    }

    /// Returns whether a collection has parts that the sender does not see.
    ///
    /// - Parameters:
    ///   - countsLinks: Whether its own links count, besides parts of its elements.
    ///   - depth: Its depth in other values.
    private func hasUnseen(
        _ place: CollectionPlace, _ kind: CollectionKind, countsLinks: Bool = true, depth: Int = 0
    ) throws(WriteError) -> Bool {
        guard try mayHoldUnseen(place, .replace) else { return false }
        guard kind == .dictionary else {
            let list = try storedList(place)
            for index in 0..<list.count {
                let value = try stored(try list.value(at: index))
                if !countsLinks, try isHiddenLink(value) { continue }
                if try hasUnseen(value, in: .element(place, index), depth: depth) { return true }
            }
            return false
        }
        var cursor = try dictionary(place).entries()
        while let entry = try stored(try cursor.next()) {
            if !countsLinks, try isHiddenLink(entry.value) { continue }
            if try hasUnseen(entry.value, in: .entry(place, entry.key.bytes.string), depth: depth) { return true }
        }
        return false
    }

    /// Throws `forbidden` when the value at a place has parts that the sender does not see: it would be written elsewhere without them.
    /// Links that are not seen stay where they are, if they are no such parts.
    func requireNothingUnseen(at location: Location) throws(WriteError) {
        guard restriction != nil else { return }
        switch location {
        case .slot(let slot, _):
            guard let value = try storedValue(in: slot), try !isHiddenLink(value), try hasUnseen(value, in: slot) else { return }
        case .collection(let place, let column, let kind):
            let place = CollectionPlace(place.table, place.object, column)
            guard try hasUnseen(place, kind, countsLinks: false) else { return }
        default: return
        }
        throw WriteError(.forbidden, "the value has parts that this principal does not see, and a move would lose them")
    }

    // MARK: - Lists

    /// Assigns all elements of a list, of which some may have parts that the sender does not see or may be links that it does not see.
    ///
    /// - Parameters:
    ///   - place: The list, of links, embedded objects or mixed values.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError`: `forbidden` when it is not clear which elements the list still has, and something would be lost.
    func assign(_ elements: [InputValue], to place: CollectionPlace, _ options: Options) throws(WriteError) {
        if place.elementShape.type == .link, let key = place.elementShape.target {
            let target = try table(key)
            if target.kind != .embedded { return try assignLinks(elements, to: place, target, options) }
        }
        let present = try presentElements(of: place)
        // As many as the sender sees, and the same: those that it does not see stay between them.
        if place.elementShape.type == .mixed, elements.count == present.seen.count {
            var isSame = true
            for (index, element) in elements.enumerated() where isSame {
                isSame = try isSameElement(element, present.seen[index], of: place, options)
            }
            if isSame { return }
        }
        let containers = elements.indices.filter { elements[$0].isContainer }
        let pairing = try pairing(containers.map { elements[$0] }, present.containers, of: place, options)
        var refusal: WriteError?
        if let pairing {
            refusal = try self.refusal(pairing, containers.map { elements[$0] }, present.containers, of: place, options)
        }
        var stays = [Bool](repeating: true, count: present.count)
        for index in present.seen { stays[index] = false }
        for (index, isKept) in (pairing?.isKept ?? []).enumerated() where isKept { stays[present.containers[index]] = true }
        let positions = try erase(from: place, except: stays)
        var left = positions.compactMap { $0 == nil ? nil : true }
        var lowest = 0
        var container = 0
        for (index, element) in elements.enumerated() {
            try spend(WriteSession.unitsPerElement)
            if index & 0xff == 0xff { try checkDeadline() }
            var slot = Slot.newElement(place, index)
            if element.isContainer {
                if let former = pairing?.former[container], let position = positions[present.containers[former]] {
                    left[position] = false
                    while lowest < left.count, !left[lowest] { lowest += 1 }
                    let before = lowest < position ? left[lowest..<position].count { $0 } : 0
                    try spend(1 + max(0, position - lowest) / 8)
                    if before > 0 { try stored(try changing.moveElement(from: index + before, to: index, in: place)) }
                    slot = .element(place, index)
                }
                container += 1
            }
            try at(.index(index), try write(element, in: slot, place.elementShape, .replace, options))
        }
        if let refusal { throw refusal }
    }

    /// Assigns all links of a list, of which the sender may not see some. As many as it sees, and the same, leave the list as it is.
    private func assignLinks(
        _ elements: [InputValue], to place: CollectionPlace, _ target: TableState, _ options: Options
    ) throws(WriteError) {
        var links: [Value] = []
        for (index, element) in elements.enumerated() {
            try spend(WriteSession.unitsPerElement)
            if index & 0xff == 0xff { try checkDeadline() }
            links.append(try at(.index(index), try link(element, to: target, place.elementShape, options)))
        }
        let present = try presentElements(of: place)
        if links.count == present.seen.count {
            var isSame = true
            for (link, index) in zip(links, present.seen) where isSame {
                isSame = try storedValue(in: .element(place, index))?.isIdentical(to: link) ?? false
            }
            if isSame { return }
        }
        var stays = [Bool](repeating: true, count: present.count)
        for index in present.seen { stays[index] = false }
        _ = try erase(from: place, except: stays)
        for (index, link) in links.enumerated() { try put(link, in: .newElement(place, index)) }
    }

    /// The elements of a list by their stored indexes.
    private struct PresentElements {
        var count = 0
        /// The elements that the sender sees.
        var seen: [Int] = []
        /// The elements of `seen` that may have parts: embedded objects, and collections in mixed values.
        var containers: [Int] = []
    }

    /// Returns what a list has before it is assigned.
    private func presentElements(of place: CollectionPlace) throws(WriteError) -> PresentElements {
        let list = try storedList(place)
        var present = PresentElements(count: list.count)
        var isEmbedded = false
        if let target = place.elementShape.target { isEmbedded = try table(target).kind == .embedded }
        for index in 0..<list.count {
            try spend(WriteSession.unitsPerElement)
            let value = try stored(try list.value(at: index))
            if !isEmbedded, try isHiddenLink(value) { continue }
            present.seen.append(index)
            switch value {
            case .list, .dictionary: present.containers.append(index)
            default: if isEmbedded { present.containers.append(index) }
            }
        }
        return present
    }

    /// Returns which elements with parts are those that the list had; nil when the sender does not see the object, and so cannot mean
    /// any of them.
    private func pairing(
        _ elements: [InputValue], _ present: [Int], of place: CollectionPlace, _ options: Options
    ) throws(WriteError) -> ElementPairing? {
        guard restriction?.seesObject ?? false else { return nil }
        return try ElementPairing(elements.count, formerCount: present.count) { () throws(WriteError) in
            var hashes: (new: [Int], former: [Int]) = ([], [])
            for element in elements { hashes.new.append(try hash(of: element, in: place)) }
            for index in present { hashes.former.append(try hash(ofElement: index, of: place)) }
            return hashes
        } isSame: { new, former throws(WriteError) in
            try isSameElement(elements[new], present[former], of: place, options)
        }
    }

    /// Returns the error for an assignment that would lose parts that the sender does not see, although it may have meant to keep them;
    /// nil when nothing is lost, or elements are only removed.
    private func refusal(
        _ pairing: ElementPairing, _ elements: [InputValue], _ present: [Int], of place: CollectionPlace, _ options: Options
    ) throws(WriteError) -> WriteError? {
        for (index, isKept) in pairing.isKept.enumerated() where !isKept {
            guard let value = try storedValue(in: .element(place, present[index])),
                try hasUnseen(value, in: .element(place, present[index]))
            else { continue }
            var isOpen = pairing.hasNew
            // Of several that look the same it is not known which were removed.
            for element in elements where !isOpen {
                isOpen = try isSameElement(element, present[index], of: place, options)
            }
            guard isOpen else { continue }
            return WriteError(
                .forbidden,
                "elements of the list have parts that this principal does not see, and the new list does not identify the ones that stay; "
                    + "change, add, move and remove elements one at a time, or assign the empty list first")
        }
        return nil
    }

    /// Removes elements of a list, and returns for each of those before its index afterwards; nil for one that was removed.
    private func erase(from place: CollectionPlace, except stays: [Bool]) throws(WriteError) -> [Int?] {
        for index in stays.indices.reversed() where !stays[index] {
            try spend()
            try eraseElement(at: index, in: place)
        }
        var next = 0
        return stays.map { isThere in
            guard isThere else { return nil }
            defer { next += 1 }
            return next
        }
    }

    /// Returns whether an element is what the sender sees of a stored one. One that does not fit the list is none of them.
    private func isSameElement(
        _ element: InputValue, _ index: Int, of place: CollectionPlace, _ options: Options
    ) throws(WriteError) -> Bool {
        do throws(WriteError) {
            return try isEqual(element, in: .element(place, index), place.elementShape, options)
        } catch {
            switch error.code {
            case .deadlineExceeded, .cancelled, .tooManyAffected, .overloaded, .storage, .insufficientStorage: throw error
            default: return false
            }
        }
    }

    // MARK: - Hashes

    /// Returns a number that is the same for an element and for the stored one that it equals.
    private func hash(of element: InputValue, in place: CollectionPlace) throws(WriteError) -> Int {
        var hasher = Hasher()
        switch element {
        case .list(let elements): hasher.combine(elements.count)
        case .object(let body):
            guard let target = place.elementShape.target else {
                hasher.combine(body.members.count)
                break
            }
            for column in plainColumns(of: try table(target)) {
                let value = try? ValueReader.read(
                    member(named: column.name, of: body) ?? .null, as: column.type, isNullable: true)
                try spend(bytes: value?.byteCount ?? 0)
                value?.use { $0.hashByOrder(into: &hasher) }
            }
        default: break
        }
        return hasher.finalize()
    }

    /// Returns the number of a stored element.
    private func hash(ofElement index: Int, of place: CollectionPlace) throws(WriteError) -> Int {
        var hasher = Hasher()
        switch try storedValue(in: .element(place, index)) {
        case .list?, .dictionary?: hasher.combine(try elementCount(place.inside(.index(index))))
        case .link(let key, let object)?:
            for column in plainColumns(of: try table(key)) {
                let value = try stored(try transaction.value(column, of: object, in: key))
                try spend(bytes: value.byteCount)
                value.hashByOrder(into: &hasher)
            }
        default: break
        }
        return hasher.finalize()
    }

    /// Returns the properties of an embedded class that have plain values, and of which the write knows.
    private func plainColumns(of table: TableState) -> [Column] {
        knownColumns(of: table).filter { $0.collection == nil && $0.type != .link && $0.type != .mixed }
    }
}

extension InputValue {
    /// Whether the value may have parts: an embedded object, or a collection in a mixed value.
    fileprivate var isContainer: Bool {
        switch self {
        case .list, .object: return true
        default: return false
        }
    }
}
