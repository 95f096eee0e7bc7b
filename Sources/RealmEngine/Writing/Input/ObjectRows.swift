// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// New objects of a class with plain values only, read column by column before they are written.
///
/// Rows are a shorter way for what most objects of an import are. They only accept: whatever is not the plain value of a property,
/// given once, is refused, and the object is then read as an `InputObject`, which knows what is wrong or what else is meant.
/// Values are read as `ValueReader` reads them.
///
/// An object is read between `beginRow` and `endRow`. The values refer to bytes that these rows own.
package struct ObjectRows: Sendable {
    /// The class.
    package let shape: RowShape
    package private(set) var count = 0
    /// A list of values for each property, in the order of the columns; nil is the default value.
    private(set) var columns: [[Value?]]
    private var chunks: [ByteChunk]
    /// The values of the object that is being read.
    private var row: [Value?]
    /// For each property, whether the object that is being read has a member for it.
    private var given: [Bool]
    /// The position of the property that usually follows.
    private var next = 0
    /// The number of required properties without a value so far.
    private var missing = 0
    private let requiredCount: Int

    /// The number of properties up to which all are compared with a member that does not come in their order.
    private static let searched = 64

    /// Makes rows without objects.
    ///
    /// - Parameters:
    ///   - shape: The class.
    ///   - byteCount: The number of bytes that the texts of all values take at most; objects that need more are refused.
    package init(_ shape: RowShape, byteCount: Int) {
        self.shape = shape
        columns = [[Value?]](repeating: [], count: shape.properties.count)
        chunks = [ByteChunk(capacity: byteCount)]
        row = [Value?](repeating: nil, count: shape.properties.count)
        given = [Bool](repeating: false, count: shape.properties.count)
        requiredCount = shape.properties.count { $0.isRequired }
    }

    package var propertyCount: Int { shape.propertyCount }

    /// Makes room for so many objects.
    package mutating func reserve(_ count: Int) {
        for position in columns.indices { columns[position].reserveCapacity(count) }
    }

    // MARK: - Reading

    /// Begins an object; one that was begun before and not ended is forgotten.
    package mutating func beginRow() {
        for position in row.indices {
            row[position] = nil
            given[position] = false
        }
        next = 0
        missing = requiredCount
    }

    /// Returns the position of the property that a member refers to; nil for a member that is no property, was given before or
    /// cannot be part of a row.
    package mutating func position(of name: ByteView) -> Int? {
        guard let position = matches(name, next) ? next : search(name), !given[position] else { return nil }
        let property = shape.properties[position]
        guard property.isPlain else { return nil }
        given[position] = true
        if property.isRequired { missing -= 1 }
        next = position + 1
        return position
    }

    /// Returns whether a member refers to the property at a position.
    private func matches(_ name: ByteView, _ position: Int) -> Bool {
        guard position < shape.properties.count else { return false }
        return ByteView.withBytes(of: shape.properties[position].name) { $0 == name }
    }

    /// Looks for the property that a member refers to.
    private func search(_ name: ByteView) -> Int? {
        guard shape.properties.count <= ObjectRows.searched else { return nil }
        return shape.properties.indices.first { matches(name, $0) }
    }

    /// Takes a text as the value of a property. Returns whether it is one.
    package mutating func set(text: ByteView, at position: Int) -> Bool {
        guard shape.properties[position].type == .string else { return set(.text(text.string), at: position) }
        guard let kept = chunks[0].append(text) else { return false }
        row[position] = .string(kept)
        return true
    }

    /// Takes an integer as the value of a property. Returns whether it is one.
    package mutating func set(integer: Int64, at position: Int) -> Bool {
        guard shape.properties[position].type == .int else { return set(.integer(integer), at: position) }
        row[position] = .int(integer)
        return true
    }

    /// Takes a number with a fraction as the value of a property. Returns whether it is one.
    package mutating func set(real: Double, at position: Int) -> Bool {
        guard shape.properties[position].type == .double else { return set(.real(real), at: position) }
        row[position] = .double(real)
        return true
    }

    /// Takes true or false as the value of a property. Returns whether it is one.
    package mutating func set(flag: Bool, at position: Int) -> Bool { set(.bool(flag), at: position) }

    /// Takes null as the value of a property. Returns whether it is one.
    package mutating func setNull(at position: Int) -> Bool { set(.null, at: position) }

    /// Takes an input as the value of a property. Returns whether it is one.
    private mutating func set(_ input: InputValue, at position: Int) -> Bool {
        let property = shape.properties[position]
        do throws(WriteError) {
            let held = try ValueReader.read(input, as: property.type, isNullable: property.isNullable)
            return held.use { value in
                guard let kept = keep(value) else { return false }
                row[position] = kept
                return true
            }
        } catch {
            return false
        }
    }

    /// Returns a value whose bytes are those of these rows; nil when there is no room for them.
    private func keep(_ value: Value) -> Value? {
        switch value {
        case .string(let bytes): return chunks[0].append(bytes).map { .string($0) }
        case .binary(let bytes): return chunks[0].append(bytes).map { .binary($0) }
        default: return value
        }
    }

    /// Ends an object. Returns whether it is complete; one that is not is forgotten.
    package mutating func endRow() -> Bool {
        guard missing == 0 else { return false }
        for position in columns.indices { columns[position].append(row[position]) }
        count += 1
        return true
    }

    // MARK: - Using

    /// The primary keys; empty for a class without one.
    var keys: [Value] { shape.keyPosition.map { columns[$0].map { $0 ?? .null } } ?? [] }

    /// Returns some of the objects.
    package func part(_ range: Range<Int>) -> ObjectRows {
        guard range != 0..<count else { return self }
        var part = self
        for position in columns.indices { part.columns[position] = Array(columns[position][range]) }
        part.count = range.count
        return part
    }

    /// Adds the objects of other rows for the same class. Returns false, and adds nothing, when their class differs.
    package mutating func append(_ other: ObjectRows) -> Bool {
        guard other.shape == shape else { return false }
        for position in columns.indices { columns[position].append(contentsOf: other.columns[position]) }
        chunks.append(contentsOf: other.chunks)
        count += other.count
        return true
    }
}
