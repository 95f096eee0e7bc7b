// SPDX-License-Identifier: Apache-2.0

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
    ///   `wouldLoseData` when nulls are lost without permission, or the error of an expired deadline.
    func move(_ mover: ColumnMover, _ losing: Bool) throws(WriteError) {
        var lost = 0
        let objects = try objects(of: mover.table)
        for (number, object) in objects.enumerated() {
            if number & 0xff == 0xff { try noteProgress(number, of: objects.count) }
            do throws(WriteError) {
                switch mover.source.collection {
                case nil: try moveValue(mover, object, &lost)
                case .list, .set: try moveElements(mover, object, &lost)
                case .dictionary: try moveEntries(mover, object, &lost)
                }
            } catch {
                var named = error
                if named.code == .typeMismatch { named.key = try name(of: ObjectPlace(table: mover.table, object: object)) }
                throw named
            }
        }
        try requireLoss(of: [(name: "nulls", count: lost)], losing)
    }

    /// Moves the single value of one object, converted where the mover has a conversion.
    /// A list or dictionary in a mixed property is copied with its contents.
    ///
    /// - Parameters:
    ///   - mover: The two columns.
    ///   - object: The object whose value is moved.
    ///   - lost: Incremented when a null is lost.
    private func moveValue(_ mover: ColumnMover, _ object: ObjectKey, _ lost: inout Int) throws(WriteError) {
        let place = ObjectPlace(table: mover.table, object: object)
        let target = Slot.property(place, mover.target)
        let value = try stored(try transaction.value(mover.source, of: object, in: mover.table))
        switch value {
        case .list, .dictionary:
            let copy = try input(at: .slot(.property(place, mover.source), .mixed))
            return try write(copy, in: target, .mixed, .create, Options())
        default: break
        }
        guard let converted = try converted(value, mover) else {
            lost += 1
            return
        }
        try converted.use { value throws(WriteError) in try put(value, in: target) }
    }

    /// Returns the value for the new property.
    ///
    /// - Parameters:
    ///   - value: The value of the old property.
    ///   - mover: The two columns with the conversion and the replacement for nulls.
    /// - Returns: The new value; nil for a null that the new property cannot hold and that has no
    ///   replacement.
    /// - Throws: `WriteError` with the code `typeMismatch` when the conversion does not accept the value.
    private func converted(_ value: Value, _ mover: ColumnMover) throws(WriteError) -> OwnedValue? {
        if value.isNull, !mover.target.isNullable {
            guard let replacement = mover.nullValue else { return nil }
            return try at(.name("nullValue"), try ValueReader.read(replacement, as: mover.target.type, isNullable: false))
        }
        if value.isNull, let replacement = mover.nullValue {
            return try at(.name("nullValue"), try ValueReader.read(replacement, as: mover.target.type, isNullable: true))
        }
        guard let conversion = mover.conversion else { return OwnedValue(copying: value) }
        guard let converted = conversion.convert(value) else {
            throw WriteError(.typeMismatch, "a value of '\(mover.source.name)' cannot be converted by \(conversion.rawValue)")
        }
        return converted
    }

    /// Moves the elements of one object's list or set. A lost null becomes the default value of the type,
    /// so positions remain.
    private func moveElements(_ mover: ColumnMover, _ object: ObjectKey, _ lost: inout Int) throws(WriteError) {
        let target = CollectionPlace(mover.table, object, mover.target)
        let elements = try members(of: CollectionPlace(mover.table, object, mover.source))
        for (index, element) in elements.enumerated() {
            try spend(WriteSession.unitsPerElement)
            var value = try converted(element.value, mover)
            if value == nil {
                lost += 1
                value = WriteSession.defaultValue(mover.target.type)
            }
            try value?.use { value throws(WriteError) in
                if mover.target.collection == .set {
                    try stored(try changing.insertMember(value, in: target))
                } else {
                    try stored(try changing.insert(value, at: index, in: target))
                }
            }
        }
    }

    /// Moves the entries of one object's dictionary. The keys remain, and a lost null becomes the default
    /// value of the type.
    private func moveEntries(_ mover: ColumnMover, _ object: ObjectKey, _ lost: inout Int) throws(WriteError) {
        let target = CollectionPlace(mover.table, object, mover.target)
        var entries: [(key: String, value: OwnedValue)] = []
        var cursor = try dictionary(CollectionPlace(mover.table, object, mover.source)).entries()
        while let entry = try stored(try cursor.next()) {
            entries.append((key: entry.key.bytes.string, value: OwnedValue(copying: entry.value)))
        }
        for entry in entries {
            try spend(WriteSession.unitsPerElement)
            var value = try converted(entry.value.value, mover)
            if value == nil {
                lost += 1
                value = WriteSession.defaultValue(mover.target.type)
            }
            try value?.use { value throws(WriteError) in
                _ = try stored(try changing.setEntry(entry.key, value, in: target))
            }
        }
    }

    /// Returns the default value of a required property of this type: zero, false, empty, or the date
    /// 1970-01-01.
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

    /// Returns the text that names an object in messages: its primary key, or `@k` and the object key.
    private func name(of place: ObjectPlace) throws(WriteError) -> String {
        guard let column = try table(place.table).primaryKey else { return "@k\(place.object.rawValue)" }
        switch try stored(try transaction.value(column, of: place.object, in: place.table)) {
        case .int(let number): return String(number)
        case .objectID(let id): return id.description
        case .uuid(let id): return id.description
        case .string(let bytes): return bytes.string
        default: return "@null"
        }
    }
}
