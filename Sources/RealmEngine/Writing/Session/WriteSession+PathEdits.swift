// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Edits at paths inside an object, as JSON Patch has them.
extension WriteSession {
    /// Applies edits to an object in their order.
    ///
    /// - Parameters:
    ///   - place: The object, which must not be embedded.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError` with the index of the failed edit in its path; `patchTestFailed` for a test
    ///   that fails.
    package func edit(
        _ place: ObjectPlace, _ edits: [PathEdit], options: Options = Options()
    ) throws(WriteError) -> Written {
        try authorize(.update, place, try objectTable(of: place))
        for (index, edit) in edits.enumerated() { try at(.index(index), try apply(edit, to: place, options)) }
        return Written(place: place, isCreated: false)
    }

    /// Applies one edit to an object, after a check of the deadline.
    ///
    /// - Throws: `WriteError`: `pathNotFound` or `unknownProperty` for a path that leads nowhere,
    ///   `patchTestFailed` for a test that fails, and the errors of values that do not fit.
    private func apply(_ edit: PathEdit, to place: ObjectPlace, _ options: Options) throws(WriteError) {
        try checkDeadline()
        try requireSeen(place, for: edit)
        switch edit {
        case .add(let path, let value): try add(value, try locate(path, in: place, for: .adding), options)
        case .replace(let path, let value): try replace(value, try locate(path, in: place, for: .existing), options)
        case .remove(let path): try remove(try locate(path, in: place, for: .existing))
        case .move(let from, let path): try move(from, to: path, in: place, options)
        case .copy(let from, let path):
            let value = try input(at: try locate(from, in: place, for: .reading))
            try add(value, try locate(path, in: place, for: .adding), options)
        case .test(let path, let value):
            guard try holds(value, try locate(path, in: place, for: .reading), options) else {
                throw WriteError(.patchTestFailed, "the value at '\(InputPath(path))' is different")
            }
        }
    }

    /// Throws `forbidden` for an edit whose outcome depends on stored values that the sender may not read. In an object that the
    /// sender does not see only whole properties can be assigned, unless the request made it.
    private func requireSeen(_ place: ObjectPlace, for edit: PathEdit) throws(WriteError) {
        guard let restriction else { return }
        switch edit {
        case .add(let path, _), .replace(let path, _), .remove(let path):
            if path.count < 2 || restriction.isOwn(place) { return }
        case .move: if restriction.isOwn(place) { return }
        case .copy, .test: break
        }
        try requireSeen(place)
    }

    /// Adds a value at a place: as a new element, entry or member, or in place of a property's value.
    private func add(_ value: InputValue, _ location: Location, _ options: Options) throws(WriteError) {
        switch location {
        case .object: throw WriteSession.noPath
        case .slot(let slot, let shape):
            if case .entry(_, let key) = slot { try requireKey(key) }
            try requireNoPrimaryKey(slot, value)
            if case .property(let place, let column) = slot, try isPrimaryKey(column, of: place) { return }
            try write(value, in: slot, shape, .update, options)
        case .collection(let place, let column, _): try write(value, to: column, of: place, .update, options)
        case .newMember(let place): try insertMember(value, in: place, options)
        case .member: throw WriteError(.pathNotFound, "members are added to a set at '-'")
        }
    }

    /// Replaces the value at a place where something exists.
    private func replace(_ value: InputValue, _ location: Location, _ options: Options) throws(WriteError) {
        guard case .member(let place, let index) = location else { return try add(value, location, options) }
        try eraseElement(at: index, in: place)
        try insertMember(value, in: place, options)
    }

    /// Removes what is at a place; a property becomes null or its collection empty.
    private func remove(_ location: Location) throws(WriteError) {
        switch location {
        case .object, .newMember: throw WriteSession.noPath
        case .slot(let slot, let shape): try remove(slot, shape)
        case .collection(let place, let column, let kind): try empty(CollectionPlace(place.table, place.object, column), kind)
        case .member(let place, let index): try eraseElement(at: index, in: place)
        }
    }

    /// Removes an element or entry, or sets a property to null.
    private func remove(_ slot: Slot, _ shape: SlotShape) throws(WriteError) {
        switch slot {
        case .property:
            try requireNoPrimaryKey(slot, .null)
            guard shape.isNullable else { throw WriteError(.nullNotAllowed, "a required property cannot be removed") }
            try put(.null, in: slot)
        case .element(let place, let index): try eraseElement(at: index, in: place)
        case .newElement: throw WriteSession.noPath
        case .entry(let place, let key): try removeEntry(key, in: place)
        }
    }

    /// Moves a value from one place to another.
    ///
    /// Within one list the element is moved, so an embedded object remains the same object. In all other
    /// cases the value is written anew and removed from its old place.
    private func move(
        _ from: [InputPath.Step], to path: [InputPath.Step], in place: ObjectPlace, _ options: Options
    ) throws(WriteError) {
        guard !path.starts(with: from) || path == from else {
            throw WriteError(.pathNotFound, "nothing can be moved into itself")
        }
        let source = try locate(from, in: place, for: .existing)
        guard path != from else { return }
        if from.dropLast() == path.dropLast(), case .slot(.element(let list, _), _) = source, let last = from.last,
            let end = path.last
        {
            // The target is the final index of the element, when the list is one element shorter.
            let count = try elementCount(list)
            let index = try WriteSession.position(last, count: count, .existing)
            let target = try WriteSession.position(end, count: count, .adding)
            guard target < count || end == .name("-") else { throw WriteSession.noPath }
            return try moveElement(from: index, to: min(target, count - 1), in: list)
        }
        try requireNothingUnseen(at: source)
        let value = try input(at: source)
        try remove(source)
        try add(value, try locate(path, in: place, for: .adding), options)
    }

    /// Returns whether a place has the value that an input describes. An input of another type is different, and no error.
    private func holds(_ input: InputValue, _ location: Location, _ options: Options) throws(WriteError) -> Bool {
        do throws(WriteError) {
            switch location {
            case .object, .newMember: return false
            case .slot(let slot, let shape): return try isEqual(WriteSession.whole(input, shape), in: slot, shape, options)
            case .collection(let place, let column, _): return try isEqual(input, to: column, of: place, options)
            case .member(let place, let index):
                guard let present = try element(index, of: place) else { return false }
                return try member(input, of: place, options).use { $0.isIdentical(to: present) }
            }
        } catch {
            switch error.code {
            case .typeMismatch, .nullNotAllowed, .outOfRange, .decimalNeedsString, .linkTargetMissing, .nestedObject:
                return false
            default: throw error
            }
        }
    }

    /// Returns an input for comparison with a stored value: a real number without a fraction equals an
    /// integer, as 1.0 equals 1.
    private static func whole(_ input: InputValue, _ shape: SlotShape) -> InputValue {
        guard shape.type == .int, case .real(let number) = input, let whole = Int64(exactly: number) else { return input }
        return .integer(whole)
    }

    // MARK: - Primary keys

    /// Returns whether a column is the primary key of an object's class.
    private func isPrimaryKey(_ column: Column, of place: ObjectPlace) throws(WriteError) -> Bool {
        try table(place.table).primaryKey?.leafIndex == column.leafIndex
    }

    /// Throws `primaryKeyImmutable` when a primary key would change; writing the same value is accepted.
    private func requireNoPrimaryKey(_ slot: Slot, _ value: InputValue) throws(WriteError) {
        guard case .property(let place, let column) = slot, try isPrimaryKey(column, of: place) else { return }
        guard try holds(value, .slot(slot, SlotShape(column)), Options()) else {
            throw WriteError(.primaryKeyImmutable, "the primary key of an object never changes")
        }
    }
}
