// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One key of groups of values: the values themselves, or a function of them.
struct ElementGroupKey {
    private let function: ValueFunction?
    private var numbering: ValueNumbering
    /// The bytes of keys that are not among the values.
    private(set) var owners: [ByteStorage] = []
    /// Whether a mixed value was of a type that the function does not take.
    private(set) var hasOtherType = false

    init(_ function: ValueFunction?, of type: ColumnType, _ cancellation: CancellationCheck) {
        self.function = function
        numbering = ValueNumbering(of: function?.resultType(of: type) ?? type, cancellation)
    }

    var byteCount: Int { numbering.byteCount + owners.count * GroupKey.bytesPerOwner }
    var hasCollection: Bool { numbering.hasCollection }

    mutating func number(_ value: Value) throws(StorageError) -> Int {
        guard let function else { return Int(try numbering.number(value)) }
        let (known, count) = (owners.count, numbering.count)
        let result = function.result(of: value, keeping: &owners)
        if result == nil { hasOtherType = true }
        let number = try numbering.number(result ?? .null)
        if numbering.count == count, owners.count > known { owners.removeLast() }
        return Int(number)
    }

    /// Returns the keys of the values at several positions.
    mutating func values(at positions: [Int], of values: [Value]) throws(StorageError) -> [Value] {
        var keys: [Value] = []
        for position in positions { keys.append(numbering.values[try number(values[position])]) }
        return keys
    }
}
