// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// One value of a Mixed leaf in its stored parts: type number and payload.
///
/// A short value lies in the word of its row; the payload of any other is in one of the side arrays of the leaf, which are
/// called slots. Writers compare slots rather than types: a value that is replaced by one with its payload in the same slot
/// leaves its place to it. Source: docs/format.md, "Mixed".
package enum MixedEntry {
    /// Null, or a value that lies in the word itself.
    case word(Int64)
    /// A number that does not fit into the word, or the bits of a float or double.
    case integer(type: Int, Int64)
    /// Two numbers: the parts of a date, the halves of a decimal, or the table and key of a link.
    case pair(type: Int, Int64, Int64)
    /// The bytes of a string or binary, borrowed from their owner, or of an id that was read from a leaf.
    case bytes(type: Int, ByteView)
    /// The bytes of an id that is to be stored, which this value owns.
    case identifier(type: Int, ByteStorage)
    /// A nested collection with its root and its id for change notifications, 0 for "not chosen yet".
    case collection(type: Int, Ref, id: Int64)

    /// The numbers of the slots of a Mixed leaf, and how many there are.
    package enum Slot { package static let words = 0, integers = 1, pairs = 2, strings = 3, collections = 4, ids = 5, count = 6 }

    /// Type numbers inside Mixed, before the 1 that is added in the word.
    enum Number {
        /// The types that values in a word or in a slot can have.
        static let int = 0, bool = 1, string = 2, binary = 4, timestamp = 8, float = 9, double = 10, decimal = 11
        /// A link without a table, which no current writer makes, and other types.
        static let untargetedLink = 12, objectID = 15, link = 16, uuid = 17, list = 19, dictionary = 21
    }

    /// The entry of null, whose word is 0.
    static let null = MixedEntry.word(0)

    /// Returns the word of a value.
    ///
    /// - Parameters:
    ///   - slot: The slot of the payload; 0 when `index` is the value itself.
    ///   - index: Where the payload is in its slot.
    static func word(type: Int, slot: Int, index: Int64) -> Int64 { index << 8 | Int64(slot << 5 | (type + 1)) }

    /// Returns the slot that holds the payload of a word; 0 when the value lies in the word.
    package static func slot(ofWord word: Int64) -> Int { Int(word >> 5) & 7 }
    /// Returns the type number of a word that is not 0.
    static func type(ofWord word: Int64) -> Int { Int(word & 0x1f) - 1 }

    /// Splits a value into its stored parts.
    ///
    /// - Throws: `.limit` for a date whose nanoseconds are out of range.
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

    /// Splits a decimal into its halves; the null decimal becomes a plain null.
    private init(_ number: Decimal128) {
        self =
            number.isNull
            ? .null : .pair(type: Number.decimal, Int64(bitPattern: number.low), Int64(bitPattern: number.high))
    }

    /// The slot that the payload goes to; 0 for values that lie in the word.
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

/// A check of dates before they are stored.
extension Timestamp {
    /// The date itself, if it can be stored.
    ///
    /// - Throws: `.limit` when the nanoseconds are out of range, or of the other sign than the
    ///   seconds.
    var checked: Timestamp {
        get throws(StorageError) {
            guard abs(Int64(nanoseconds)) < 1_000_000_000,
                nanoseconds == 0 || seconds == 0 || (nanoseconds < 0) == (seconds < 0)
            else { throw .limit("invalid date of \(seconds) s and \(nanoseconds) ns, beyond 10^9 or of another sign") }
            return self
        }
    }
}
