// SPDX-License-Identifier: Apache-2.0

/// One value of a Mixed leaf in its stored parts: type number and payload.
///
/// What the word of a value says, with its payload if it has one. Writers compare slots rather than types: replacing a value by
/// one with its payload in the same slot reuses the place. Source: docs/format.md, "Mixed".
enum MixedEntry {
    /// Null, or a value in the word itself.
    case word(Int64)
    /// A number that does not fit the word, or the bits of a float or double.
    case integer(type: Int, Int64)
    /// Two numbers: a date, a decimal or a link with its table.
    case pair(type: Int, Int64, Int64)
    /// Strings, binaries and ids.
    case bytes(type: Int, ByteView)
    /// An id, with bytes of its own.
    case identifier(type: Int, ByteStorage)
    /// A nested collection with its root and its id, 0 for "not chosen yet".
    case collection(type: Int, Ref, id: Int64)

    /// The slots of a Mixed leaf.
    enum Slot { static let words = 0, integers = 1, pairs = 2, strings = 3, collections = 4, ids = 5, count = 6 }

    /// Type numbers inside Mixed.
    enum Number {
        /// The types that values in a word or in a slot can have.
        static let int = 0, bool = 1, string = 2, binary = 4, timestamp = 8, float = 9, double = 10, decimal = 11
        /// A link without a table, which no writer of the present makes, and further types.
        static let untargetedLink = 12, objectID = 15, link = 16, uuid = 17, list = 19, dictionary = 21
    }

    /// The word of null.
    static let null = MixedEntry.word(0)

    /// The word of a value with its payload at `index` of `slot`; slot 0 has the value itself in `index`.
    static func word(type: Int, slot: Int, index: Int64) -> Int64 { index << 8 | Int64(slot << 5 | (type + 1)) }

    /// The slot that holds the payload of a word, 0 for none.
    static func slot(ofWord word: Int64) -> Int { Int(word >> 5) & 7 }
    /// The type number of a word that is not 0.
    static func type(ofWord word: Int64) -> Int { Int(word & 0x1f) - 1 }

    /// The stored parts of a value. Throws `.limit` for a date that cannot be stored.
    init(_ value: Value) throws(StorageError) {
        switch value {
        case .null: self = .null
        case .int(let number):
            let fits = Int64(Int32(truncatingIfNeeded: number)) == number
            self =
                fits
                ? .word(MixedEntry.word(type: Number.int, slot: 0, index: number)) : .integer(type: Number.int, number)
        case .bool(let flag): self = .word(MixedEntry.word(type: Number.bool, slot: 0, index: flag ? 1 : 0))
        case .float(let number): self = .integer(type: Number.float, Int64(number.bitPattern))
        case .double(let number): self = .integer(type: Number.double, Int64(bitPattern: number.bitPattern))
        case .string(let bytes): self = .bytes(type: Number.string, bytes)
        case .binary(let bytes): self = .bytes(type: Number.binary, bytes)
        case .timestamp(let date): self = .pair(type: Number.timestamp, date.seconds, Int64(try date.checked.nanoseconds))
        case .decimal(let number): self = MixedEntry(number)
        case .objectID(let id): self = .identifier(type: Number.objectID, ByteStorage(id.bytes))
        case .uuid(let id): self = .identifier(type: Number.uuid, ByteStorage(id.bytes))
        case .link(let table, let key): self = .pair(type: Number.link, Int64(table.rawValue), key.rawValue)
        case .list(let root): self = .collection(type: Number.list, root, id: 0)
        case .dictionary(let root): self = .collection(type: Number.dictionary, root, id: 0)
        }
    }

    /// The parts of a decimal; null has none.
    private init(_ number: Decimal128) {
        self =
            number.isNull
            ? .null : .pair(type: Number.decimal, Int64(bitPattern: number.low), Int64(bitPattern: number.high))
    }

    /// The slot that the payload goes to, 0 for none.
    var slot: Int {
        switch self {
        case .word: return 0
        case .integer: return Slot.integers
        case .pair: return Slot.pairs
        case .bytes, .identifier: return Slot.strings
        case .collection: return Slot.collections
        }
    }

    /// The type number of the value; -1 for null.
    var type: Int {
        switch self {
        case .word(let word): return MixedEntry.type(ofWord: word)
        case .integer(let type, _), .pair(let type, _, _), .bytes(let type, _), .identifier(let type, _),
            .collection(let type, _, _):
            return type
        }
    }
}

/// Checking dates before they are stored.
extension Timestamp {
    /// The date itself; throws `.limit` when its nanoseconds are out of range or of the other sign.
    var checked: Timestamp {
        get throws(StorageError) {
            guard abs(Int64(nanoseconds)) < 1_000_000_000,
                nanoseconds == 0 || seconds == 0 || (nanoseconds < 0) == (seconds < 0)
            else { throw .limit("a date with \(seconds) seconds and \(nanoseconds) nanoseconds") }
            return self
        }
    }
}
