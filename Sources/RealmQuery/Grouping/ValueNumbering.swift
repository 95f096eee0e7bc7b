// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Numbers distinct values 0, 1, 2 … in the order in which they first occur, by hashing.
///
/// Mixed numbers of different types are one value if they are equal: an int, a float, a double and a decimal of 1 are one, the int.
/// Missing values are null, and zero has no sign.
struct ValueNumbering {
    private(set) var values: [Value] = []
    private var hashes: [Int] = []
    /// The number of the value in each slot plus 1; 0 in free slots. Its length is a power of two.
    private var slots = [UInt32](repeating: 0, count: 64)
    /// Whether the values are mixed, so that numbers of different types may be the same.
    private let isMixed: Bool
    /// The check that can stop the query.
    private let cancellation: CancellationCheck
    private(set) var hasCollection = false

    var count: Int { values.count }

    /// About the memory that the numbers take, without the bytes of texts, which belong to the snapshot.
    var byteCount: Int {
        values.count * (MemoryLayout<Value>.stride + MemoryLayout<Int>.stride) + slots.count * MemoryLayout<UInt32>.stride
    }

    init(of type: ColumnType, _ cancellation: CancellationCheck) {
        isMixed = type == .mixed
        self.cancellation = cancellation
    }

    /// Returns the number of a value, which gets one if it has none.
    ///
    /// - Throws: The error that stops the query; long texts take time to compare.
    mutating func number(_ value: Value) throws(StorageError) -> UInt32 {
        let value = value.asGroupValue(isMixed: isMixed)
        let key = value.asGroupKey(isMixed: isMixed)
        switch value {
        case .list, .dictionary: hasCollection = true
        default: break
        }
        try cancellation.step(for: value)
        let hash = ValueNumbering.hash(key)
        var slot = hash & (slots.count - 1)
        while slots[slot] != 0 {
            let known = Int(slots[slot] - 1)
            if hashes[known] == hash, ValueNumbering.areSame(values[known].asGroupKey(isMixed: isMixed), key) {
                return UInt32(known)
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        values.append(value)
        hashes.append(hash)
        slots[slot] = UInt32(values.count)
        if values.count * 2 > slots.count { grow() }
        return UInt32(values.count - 1)
    }

    /// Returns a hash that the same values share. Short texts, which are most of all, are hashed in two words.
    private static func hash(_ value: Value) -> Int {
        if case .string(let bytes) = value, bytes.count <= 16 {
            let first = IntegerNumbering.mixed(Int64(bitPattern: bytes.word(at: 0)), after: UInt64(bytes.count))
            return Int(truncatingIfNeeded: IntegerNumbering.mixed(Int64(bitPattern: bytes.word(at: 8)), after: first))
        }
        var hasher = Hasher()
        value.hashByOrder(into: &hasher)
        return hasher.finalize()
    }

    /// Makes the hash table four times as large and inserts all values again.
    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 4)
        for (number, hash) in hashes.enumerated() {
            var slot = hash & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt32(number + 1)
        }
    }

    /// Returns whether two values have the same number. Numbers that are left with different types are different.
    static func areSame(_ left: Value, _ right: Value) -> Bool {
        guard Value.order(left, right) == 0 else { return false }
        switch (left, right) {
        case (.int, .int), (.float, .float), (.double, .double), (.decimal, .decimal): return true
        default: return !left.isNumber
        }
    }
}
