// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The values of a column of any type: a tree of types, one of words, and columns of what does not fit into a word.
struct LegacyMixed: LegacySource {
    /// The root of the column, which errors name.
    private let root: Ref
    private var types: LegacyValues
    private var words: LegacyValues
    /// Strings and binaries by position; nil when there are none.
    private var blobs: LegacyLookup?
    /// The seconds and nanoseconds of dates by position; nil when there are none.
    private var dates: (seconds: LegacyLookup, nanoseconds: LegacyLookup)?
    /// The parts of one step, kept for their memory.
    private var stepTypes: [Value?] = [], stepWords: [Value?] = []
    /// The pass that reads.
    private let reading: LegacyReading

    /// The types that exist in these columns only.
    private static let negativeDouble: Int64 = 11, negativeInt: Int64 = 12

    /// Makes a source in front of the first value.
    ///
    /// - Throws: `.corrupt` when the root has another number of trees than 2 to 4.
    init(_ root: Ref, _ reading: LegacyReading) throws(StorageError) {
        let node = try reading.refs(at: root, "mixed values")
        guard (2...4).contains(node.count) else { throw node.corrupt("mixed values with \(node.count) slots") }
        self.root = root
        self.reading = reading
        types = LegacyValues(try node.requiredRef(0, "types"), .int, isNullable: false, reading)
        words = LegacyValues(try node.requiredRef(1, "words"), .int, isNullable: false, reading)
        let bytes = try node.optionalRef(2, "bytes")
        if !bytes.isNone { blobs = LegacyLookup(bytes, .binary, isNullable: true, reading) }
        let times = try node.optionalRef(3, "dates")
        guard !times.isNone else { return }
        let (first, second) = try LegacyTimestamps.trees(at: times, reading)
        dates = (LegacyLookup(first, .int, isNullable: true, reading), LegacyLookup(second, .int, isNullable: false, reading))
    }

    mutating func read(_ limit: Int, into values: inout [Value?]) throws(StorageError) {
        stepTypes.removeAll(keepingCapacity: true)
        stepWords.removeAll(keepingCapacity: true)
        try types.read(limit, into: &stepTypes)
        try words.read(limit, into: &stepWords)
        guard stepTypes.count == stepWords.count else { throw .corrupt(ref: root, reason: "as many types as words expected") }
        for index in stepTypes.indices {
            guard case .int(let type)? = stepTypes[index], case .int(let word)? = stepWords[index] else { continue }
            values.append(try value(type, word))
        }
    }

    mutating func renew() throws(StorageError) {
        try types.renew()
        try words.renew()
        blobs?.renew()
        dates?.seconds.renew()
        dates?.nanoseconds.renew()
    }

    private mutating func value(_ type: Int64, _ word: Int64) throws(StorageError) -> Value {
        let number = UInt64(bitPattern: word) >> 1
        switch type {
        case LegacyMixed.negativeInt: return .int(Int64(bitPattern: number | 1 << 63))
        case LegacyMixed.negativeDouble: return .double(Double(bitPattern: number | 1 << 63))
        default: break
        }
        switch LegacyType(rawValue: Int(clamping: type)) {
        case .int?: return .int(Int64(bitPattern: number))
        case .bool?: return .bool(number != 0)
        case .float?: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: number)))
        case .double?: return .double(Double(bitPattern: number))
        // Not as an unsigned number: that would spoil dates before 1970.
        case .oldDate?: return .timestamp(Timestamp(seconds: word >> 1, nanoseconds: 0))
        case .string?: return .string(try text(number))
        case .binary?: return .binary(try bytes(number) ?? .empty)
        case .timestamp?: return try date(number)
        case .table?:
            reading.keeper.tableCount += 1
            return .null
        default: throw .corrupt(ref: root, reason: "a mixed value of type \(type)")
        }
    }

    /// Returns the bytes at a position; nil for null.
    private mutating func bytes(_ position: UInt64) throws(StorageError) -> ByteView? {
        guard let value = try blobs?.value(at: Int64(position)) else {
            throw .corrupt(ref: root, reason: "mixed values without the bytes that one needs")
        }
        guard case .binary(let bytes) = value else { return nil }
        return bytes
    }

    /// Returns the text at a position, which is stored as bytes with a final zero.
    private mutating func text(_ position: UInt64) throws(StorageError) -> ByteView {
        guard let bytes = try bytes(position) else { return .empty }
        guard bytes.count > 0, bytes[bytes.count - 1] == 0 else {
            throw .corrupt(ref: root, reason: "a string without a final zero byte")
        }
        return bytes.slice(0, bytes.count - 1)
    }

    private mutating func date(_ position: UInt64) throws(StorageError) -> Value {
        guard let whole = try dates?.seconds.value(at: Int64(position)),
            let part = try dates?.nanoseconds.value(at: Int64(position))
        else { throw .corrupt(ref: root, reason: "mixed values without the dates that one needs") }
        return try LegacyTimestamps.value(whole, part, root)
    }
}
