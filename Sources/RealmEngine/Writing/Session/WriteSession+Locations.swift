// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Follows paths through properties, embedded objects, elements, entries and collections in mixed values.
extension WriteSession {
    /// The places that the last step of a path may lead to. All steps before it must lead to places that exist.
    enum PathUse {
        /// Only a place that exists, whose value is read.
        case reading
        /// Only a place that exists: a property, an element, an entry or a member.
        case existing
        /// Also a place where something can be added: a missing entry, or the end of a list (`-`).
        case adding
    }

    /// Returns the place that a path leads to.
    ///
    /// - Parameters:
    ///   - steps: The steps of the path; none means the object itself.
    ///   - place: The object at which the path begins.
    ///   - use: Whether the place has to exist.
    /// - Throws: `WriteError`: `unknownProperty` for a name that the class does not have, `pathNotFound`
    ///   for all other steps that lead nowhere.
    func locate(
        _ steps: some Collection<InputPath.Step>, in place: ObjectPlace, for use: PathUse
    ) throws(WriteError) -> Location {
        var location = Location.object(place)
        var left = steps.count
        for step in steps {
            left -= 1
            location = try next(step, from: location, left == 0 ? use : .existing)
            if use != .reading { try requireWritable(location) }
        }
        return location
    }

    /// Throws `forbidden` for a property that the sender of the write may only read.
    private func requireWritable(_ location: Location) throws(WriteError) {
        guard restriction != nil else { return }
        switch location {
        case .slot(.property(let place, let column), _), .collection(let place, let column, _):
            try requireWritable(column, of: try table(place.table))
        default: break
        }
    }

    /// Returns the place that one step leads to from a place.
    private func next(_ step: InputPath.Step, from location: Location, _ use: PathUse) throws(WriteError) -> Location {
        switch location {
        case .object(let place): return try property(step, of: place)
        case .collection(let place, let column, let kind):
            return try element(step, of: CollectionPlace(place.table, place.object, column), kind, use)
        case .slot(let slot, let shape): return try next(step, inside: slot, shape, use)
        case .member, .newMember: throw WriteSession.noPath
        }
    }

    private func property(_ step: InputPath.Step, of place: ObjectPlace) throws(WriteError) -> Location {
        guard case .name(let name) = step else { throw WriteSession.noPath }
        let table = try table(place.table)
        // Member names of documents may be escaped; names in addresses are not.
        guard let column = knownColumn(name, of: table) ?? knownColumn(naming.property(name), of: table) else {
            throw unknown(name, table)
        }
        if let kind = column.collection { return .collection(place, column, kind) }
        return .slot(.property(place, column), SlotShape(column))
    }

    /// Follows a step into an embedded object, or into a collection in a mixed value.
    private func next(
        _ step: InputPath.Step, inside slot: Slot, _ shape: SlotShape, _ use: PathUse
    ) throws(WriteError) -> Location {
        switch try value(in: slot) {
        case .link(let table, let object)? where shape.type == .link:
            guard try self.table(table).kind == .embedded else { throw WriteSession.noPath }
            return try property(step, of: ObjectPlace(table: table, object: object))
        case .list?: return try element(step, of: slot.collection, .list, use)
        case .dictionary?: return try element(step, of: slot.collection, .dictionary, use)
        default: throw WriteSession.noPath
        }
    }

    /// Returns the place of an element or entry of a collection.
    private func element(
        _ step: InputPath.Step, of place: CollectionPlace, _ kind: CollectionKind, _ use: PathUse
    ) throws(WriteError) -> Location {
        switch (kind, step) {
        case (.dictionary, .name(let key)):
            if use != .adding, try entry(key, of: place) == nil { throw WriteSession.noPath }
            return .slot(.entry(place, key), place.elementShape)
        case (.dictionary, .index): throw WriteSession.noPath
        case (.list, _):
            let count = try elementCount(place)
            let index = try storedIndex(of: try WriteSession.position(step, count: count, use), in: place)
            if case .adding = use { return .slot(.newElement(place, index), place.elementShape) }
            return .slot(.element(place, index), place.elementShape)
        case (.set, _):
            if case .adding = use {
                guard case .name("-") = step else { throw WriteSession.noPath }
                return .newMember(place)
            }
            let index = try WriteSession.position(step, count: try elementCount(place), use)
            return .member(place, try storedIndex(of: index, in: place))
        }
    }

    /// Returns the index that a step means: one of an existing element, or up to the number of elements
    /// when something is added.
    static func position(_ step: InputPath.Step, count: Int, _ use: PathUse) throws(WriteError) -> Int {
        let end = if case .adding = use { count } else { count - 1 }
        let index: Int
        switch step {
        case .index(let number): index = number
        case .name("-"):
            guard case .adding = use else { throw noPath }
            index = count
        case .name(let text):
            guard let number = Int(text), String(number) == text else { throw noPath }
            index = number
        }
        guard index >= 0, index <= end else { throw noPath }
        return index
    }

    /// Makes the error for a name that no property of a class has. It carries the known names, from which a suggestion is made.
    func unknown(_ property: String, _ table: TableState) -> WriteError {
        var error = WriteError(.unknownProperty, "class '\(table.className)' has no property '\(property.truncated)'")
        error.unknownName = (name: property, known: knownColumns(of: table).map(\.name))
        return error
    }

    /// The error for a path that leads nowhere.
    static let noPath = WriteError(.pathNotFound, "there is nothing at this path")

    // MARK: - Taking values out

    /// The units of a work budget that reading, comparing or writing one element costs.
    static let unitsPerElement = 8

    /// Returns the value at a place as an input, which writes an equal value elsewhere.
    ///
    /// - Parameter location: The place that is read.
    /// - Throws: `WriteError` with the code `pathNotFound` when nothing is there.
    func input(at location: Location) throws(WriteError) -> InputValue {
        switch location {
        case .object(let place): return .object(try input(of: place))
        case .slot(let slot, let shape):
            guard let value = try value(in: slot) else { throw WriteSession.noPath }
            return try input(of: value, slot, shape)
        case .collection(let place, let column, let kind):
            return try input(of: CollectionPlace(place.table, place.object, column), kind)
        case .member(let place, let index):
            guard let value = try element(index, of: place) else { throw WriteSession.noPath }
            return try input(of: value, .element(place, index), place.elementShape)
        case .newMember: throw WriteSession.noPath
        }
    }

    /// Returns all properties of an embedded object as members.
    private func input(of place: ObjectPlace) throws(WriteError) -> InputObject {
        var members: [(name: String, value: InputValue)] = []
        for column in knownColumns(of: try table(place.table)) {
            let location = try property(.name(column.name), of: place)
            members.append((name: naming.member(column.name), value: try input(at: location)))
        }
        return InputObject(members)
    }

    /// Returns the elements of a list or set, or the entries of a dictionary, as an input.
    private func input(of place: CollectionPlace, _ kind: CollectionKind) throws(WriteError) -> InputValue {
        guard kind == .dictionary else {
            var elements: [InputValue] = []
            let list = try list(place)
            for index in 0..<list.count {
                try spend(WriteSession.unitsPerElement)
                let position = list.storedIndex(of: index)
                let value = try element(position, of: place) ?? .null
                elements.append(try input(of: value, .element(place, position), place.elementShape))
            }
            return .list(elements)
        }
        var entries: [(name: String, value: InputValue)] = []
        var cursor = try dictionary(place).entries()
        while let entry = try stored(try cursor.next()) {
            try spend(WriteSession.unitsPerElement)
            try spend(bytes: entry.key.bytes.count)
            let key = entry.key.bytes.string
            entries.append((name: key, value: try input(of: try shown(entry.value), .entry(place, key), place.elementShape)))
        }
        return .object(InputObject(entries))
    }

    /// Returns one stored value as an input. Embedded objects and mixed collections are copied with their contents.
    private func input(of value: Value, _ slot: Slot, _ shape: SlotShape) throws(WriteError) -> InputValue {
        try spend(bytes: value.byteCount)
        switch value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .int(let number): return .typed(.int(number))
        case .float(let number): return .typed(.float(number))
        case .double(let number): return .typed(.double(number))
        case .string(let bytes): return .typed(.stringBytes(bytes.array))
        case .binary(let bytes): return .typed(.binary(bytes.array))
        case .timestamp(let date): return .typed(.timestamp(date))
        case .decimal(let number): return .typed(.decimal(number))
        case .objectID(let id): return .typed(.objectID(id))
        case .uuid(let id): return .typed(.uuid(id))
        case .link(let table, let object):
            let target = try self.table(table)
            if target.kind == .embedded { return .object(try input(of: ObjectPlace(table: table, object: object))) }
            return .link(.stub(className: target.className, key: .objectKey(object)))
        case .list: return try input(of: slot.collection, .list)
        case .dictionary: return try input(of: slot.collection, .dictionary)
        }
    }
}
