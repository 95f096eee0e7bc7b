// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension WriteSession {
    /// Fills a new property from an old one, object by object.
    ///
    /// A null that a required property cannot hold becomes `nullValue`. Without one it becomes the
    /// default value, and the null counts as lost data.
    ///
    /// - Parameters:
    ///   - mover: The two columns, and how values get from one to the other.
    ///   - losing: Whether the migration allows the loss of data.
    /// - Throws: `WriteError`: `typeMismatch` with the key of the object whose value cannot be converted,
    ///   `wouldLoseData` when nulls or elements are lost without permission, or the error of an expired
    ///   deadline.
    func move(_ mover: ColumnMover, _ losing: Bool) throws(WriteError) {
        var losses = ColumnMover.Losses()
        let objects = try objects(of: mover.table)
        for (number, object) in objects.enumerated() {
            if number & 0xff == 0xff { try noteProgress(number, of: objects.count) }
            try spend()
            let place = ObjectPlace(table: mover.table, object: object)
            do throws(WriteError) {
                switch (mover.source.collection, mover.target.collection) {
                case (nil, nil): try moveValue(mover, place, &losses)
                case (nil, _): try wrapValue(mover, place, &losses)
                case (.dictionary?, _): try moveEntries(mover, place, &losses)
                case (_, nil): try unwrapValue(mover, place, &losses)
                default: try moveElements(mover, place, &losses)
                }
            } catch {
                var named = error
                if named.code == .typeMismatch, named.key == nil { named.key = try keyText(of: place) }
                throw named
            }
        }
        try requireLoss(of: losses.counts, losing)
    }

    // MARK: - The kinds of properties

    /// Moves the single value of one object.
    private func moveValue(_ mover: ColumnMover, _ place: ObjectPlace, _ losses: inout ColumnMover.Losses) throws(WriteError) {
        let value = try stored(try transaction.value(mover.source, of: place.object, in: place.table))
        try move(value, of: .property(place, mover.source), to: .slot(.property(place, mover.target)), mover, &losses)
    }

    /// Moves the single value of one object to a collection, as its one element. Null leaves the
    /// collection empty, unless something replaces nulls.
    private func wrapValue(_ mover: ColumnMover, _ place: ObjectPlace, _ losses: inout ColumnMover.Losses) throws(WriteError) {
        let value = try stored(try transaction.value(mover.source, of: place.object, in: place.table))
        guard !value.isNull || mover.nullValue != nil else { return }
        let target = CollectionPlace(mover.table, place.object, mover.target)
        try move(value, of: .property(place, mover.source), to: element(0, of: target), mover, &losses)
    }

    /// Moves the one element of an object's list or set to a single value; an empty collection counts as
    /// null, and one of several elements cannot be converted.
    private func unwrapValue(_ mover: ColumnMover, _ place: ObjectPlace, _ losses: inout ColumnMover.Losses) throws(WriteError) {
        let source = CollectionPlace(mover.table, place.object, mover.source)
        let target = Slot.property(place, mover.target)
        let count = try elementCount(source)
        guard count <= 1 else {
            let replacement = try replacement(mover, "has \(count) elements")
            return try replacement.use { value throws(WriteError) in try put(value, in: target) }
        }
        let index = try storedIndex(of: 0, in: source)
        let value = try element(index, of: source) ?? .null
        try move(value, of: .element(source, index), to: .slot(target), mover, &losses)
    }

    /// Moves the elements of one object's list or set. A lost null becomes the default value of the type, so positions remain.
    private func moveElements(_ mover: ColumnMover, _ place: ObjectPlace, _ losses: inout ColumnMover.Losses) throws(WriteError) {
        let source = CollectionPlace(mover.table, place.object, mover.source)
        let target = CollectionPlace(mover.table, place.object, mover.target)
        let elements = try members(of: source)
        for (index, value) in elements.enumerated() {
            try spend(WriteSession.unitsPerElement)
            try value.use { value throws(WriteError) in
                try move(value, of: .element(source, index), to: element(index, of: target), mover, &losses)
            }
        }
    }

    /// Moves the entries of one object's dictionary. The keys remain, and a lost null becomes the default value of the type.
    private func moveEntries(_ mover: ColumnMover, _ place: ObjectPlace, _ losses: inout ColumnMover.Losses) throws(WriteError) {
        let source = CollectionPlace(mover.table, place.object, mover.source)
        let target = CollectionPlace(mover.table, place.object, mover.target)
        var entries: [(key: String, value: OwnedValue)] = []
        var cursor = try dictionary(source).entries()
        while let entry = try stored(try cursor.next()) {
            try spend(bytes: entry.key.bytes.count + entry.value.byteCount)
            entries.append((key: entry.key.bytes.string, value: OwnedValue(copying: entry.value)))
        }
        for entry in entries {
            try spend(WriteSession.unitsPerElement)
            try entry.value.use { value throws(WriteError) in
                try move(value, of: .entry(source, entry.key), to: .slot(.entry(target, entry.key)), mover, &losses)
            }
        }
    }

    private func element(_ index: Int, of place: CollectionPlace) -> ColumnMover.Place {
        place.column.collection == .set ? .member(place) : .slot(.newElement(place, index))
    }

    // MARK: - One value

    /// Moves one value, converted where the mover has a conversion. Embedded objects, and lists and
    /// dictionaries in mixed values, are copied with their contents.
    ///
    /// - Parameters:
    ///   - value: The value, valid until the first change.
    ///   - source: Where the value is stored.
    ///   - place: Where it goes.
    ///   - mover: The two columns.
    ///   - losses: Counts what is lost.
    private func move(
        _ value: Value, of source: Slot, to place: ColumnMover.Place, _ mover: ColumnMover, _ losses: inout ColumnMover.Losses
    ) throws(WriteError) {
        try spend(bytes: value.byteCount)
        if try hasContents(value, mover), case .slot(let target) = place, mover.target.type == mover.source.type {
            let copy = try input(at: .slot(source, SlotShape(mover.source)))
            return try write(copy, in: target, SlotShape(mover.target), .create, Options())
        }
        let converted = try converted(value, mover, &losses)
        switch place {
        case .slot(let slot): try converted.use { value throws(WriteError) in try put(value, in: slot) }
        case .member(let set):
            let isNew = try converted.use { value throws(WriteError) in
                try stored(try changing.insertMember(value, in: set))
            }
            if !isNew { losses.duplicates += 1 }
        }
    }

    /// Returns whether a value has contents of its own: an embedded object, or a collection in a mixed value.
    private func hasContents(_ value: Value, _ mover: ColumnMover) throws(WriteError) -> Bool {
        switch value {
        case .list, .dictionary: return true
        case .link(let table, _) where mover.source.type == .link: return try self.table(table).kind == .embedded
        default: return false
        }
    }

    /// Returns the value for the new property.
    ///
    /// - Parameters:
    ///   - value: The value of the old property.
    ///   - mover: The two columns with the conversion and the replacement for nulls.
    ///   - losses: Counts a null that the new property cannot hold and that has no replacement.
    /// - Throws: `WriteError` with the code `typeMismatch` when the conversion does not accept the value.
    private func converted(
        _ value: Value, _ mover: ColumnMover, _ losses: inout ColumnMover.Losses
    ) throws(WriteError) -> OwnedValue {
        if value.isNull {
            if mover.nullValue != nil { return try nullValue(mover) }
            guard !mover.target.isNullable else { return OwnedValue(.null) }
            losses.nulls += 1
            return WriteSession.defaultValue(mover.target.type)
        }
        switch value {
        case .list, .dictionary: return try replacement(mover, "has a collection")
        default: break
        }
        guard let conversion = mover.conversion.value else { return OwnedValue(copying: value) }
        if let converted = conversion.convert(value, mover.conversion.rounding) { return converted }
        return try replacement(mover, "has a value of type \(value.typeName)")
    }

    /// Returns the replacement of a value that cannot be converted.
    ///
    /// - Parameters:
    ///   - mover: The two columns with the rule for such values.
    ///   - reason: The problem of the object, for the message.
    /// - Throws: `WriteError` with the code `typeMismatch` unless the rule replaces such values.
    private func replacement(_ mover: ColumnMover, _ reason: String) throws(WriteError) -> OwnedValue {
        switch mover.conversion.onFailure {
        case .null: return OwnedValue(.null)
        case .default: return try mover.nullValue == nil ? WriteSession.defaultValue(mover.target.type) : nullValue(mover)
        case .error:
            let name = mover.conversion.name
            let cause = name.isEmpty ? "be moved" : "be converted by \(name) without loss"
            throw WriteError(
                .typeMismatch, "'\(mover.source.name)' \(reason) that cannot \(cause)", path: InputPath([.name("conversion")]))
        }
    }

    /// Returns the value that replaces nulls.
    private func nullValue(_ mover: ColumnMover) throws(WriteError) -> OwnedValue {
        let value = mover.nullValue ?? .null
        return try at(
            .name("nullValue"), try ValueReader.read(value, as: mover.target.type, isNullable: mover.target.isNullable))
    }

    /// Returns the default value of a required property of this type: zero, false, empty, or the date 1970-01-01.
    private static func defaultValue(_ type: ColumnType) -> OwnedValue {
        switch type {
        case .int: return OwnedValue(.int(0))
        case .bool: return OwnedValue(.bool(false))
        case .string: return .string("")
        case .binary: return .binary([])
        case .timestamp: return OwnedValue(.timestamp(Timestamp(seconds: 0, nanoseconds: 0)))
        case .float: return OwnedValue(.float(0))
        case .double: return OwnedValue(.double(0))
        case .decimal: return OwnedValue(.decimal(.zero))
        case .objectID: return OwnedValue(.objectID(ObjectID(first: 0, last: 0)))
        case .uuid: return OwnedValue(.uuid(UUIDValue(first: 0, last: 0)))
        case .mixed, .link, .backlink: return OwnedValue(.null)
        }
    }
}
