// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Numbers distinct integers 0, 1, 2 … in the order in which they first occur, a leaf at a time.
///
/// Integers that are neither negative nor large are found in a direct table, all others in a hash table. Null has a number too,
/// wherever it is among the others.
package struct IntegerNumbering: Sendable {
    /// The elements of a leaf that are null.
    package enum Nulls: Sendable {
        /// No element is null.
        case none
        /// Elements that equal this one are null.
        case equal(Int64)
        /// Elements below this one are null.
        case below(Int64)
    }

    /// The integers by their numbers; nil for null.
    package private(set) var integers: [Int64?] = []
    /// The number of each small integer plus 1; 0 for those that did not occur. The last element represents all larger integers
    /// and stays 0.
    private(set) var direct: [UInt32] = [0]
    /// The integers of the hash table; meaningless in free slots.
    private var slotIntegers: [Int64] = []
    /// The numbers of the integers in the hash table plus 1; 0 in free slots. Its length is a power of two.
    private var slotNumbers: [UInt32] = []
    /// How many integers are in the hash table.
    private(set) var hashedCount = 0
    /// The number of null; nil when it did not occur.
    private(set) var nullNumber: UInt32?

    /// Makes a numbering in which nothing has a number.
    package init() {}

    /// How many integers have numbers, null included.
    package var count: Int { integers.count }

    /// About the memory that the numbers take.
    package var byteCount: Int {
        integers.count * MemoryLayout<Int64?>.stride + direct.count * MemoryLayout<UInt32>.stride
            + slotNumbers.count * (MemoryLayout<Int64>.stride + MemoryLayout<UInt32>.stride)
    }

    /// The integers below which the table may grow, 4 MiB at most. Larger ones are hashed.
    private static let directLimit = 1 << 20

    /// Numbers the elements in the rows of a mask.
    ///
    /// It takes one to two nanoseconds for each row while the integers are small.
    ///
    /// - Parameters:
    ///   - elements: The elements of a leaf.
    ///   - rows: The rows, whose first one is element `start`; all of them must exist.
    ///   - start: The element that row 0 represents.
    ///   - nulls: Which elements are null.
    ///   - numbers: Receives the number of each row from its beginning; it has room for a mask.
    package mutating func number(
        _ elements: PackedIntegers, _ rows: Mask, start: Int = 0, nulls: Nulls = .none, into numbers: inout [UInt32]
    ) {
        precondition(numbers.count >= Mask.capacity, "too little room for the numbers of a leaf")
        guard let last = rows.last else { return }
        elements.withUnpacked(start: start, count: last &+ 1) { integers in
            switch nulls {
            case .none: assign(rows, integers, into: &numbers) { _ in false }
            case .equal(let null): assign(rows, integers, into: &numbers) { $0 == null }
            case .below(let least): assign(rows, integers, into: &numbers) { $0 < least }
            }
        }
    }

    /// Stores the numbers of integers in the rows of a mask.
    @inline(__always)
    private mutating func assign(
        _ rows: Mask, _ integers: Span<Int64>, into numbers: inout [UInt32], isNull: (Int64) -> Bool
    ) {
        unsafe numbers.withUnsafeMutableBufferPointer { target in
            // In bounds: a mask has as many rows as there is room for, and the integers reach its last row.
            let room = unsafe target.baseAddress.unsafelyUnwrapped
            var index = 0
            if rows == Mask(first: integers.count) {
                while index < integers.count {
                    let integer = integers[index]
                    unsafe room[index] = isNull(integer) ? numberOfNull() : number(integer)
                    index &+= 1
                }
                return
            }
            rows.forEach { row in
                let integer = integers[row]
                unsafe room[index] = isNull(integer) ? numberOfNull() : number(integer)
                index &+= 1
            }
        }
    }

    @inline(__always)
    package mutating func number(_ integer: Int64) -> UInt32 {
        if UInt64(bitPattern: integer) < UInt64(direct.count) {
            let known = direct[Int(integer)]
            if known != 0 { return known &- 1 }
        }
        return newNumber(integer)
    }

    package mutating func numberOfNull() -> UInt32 {
        if let nullNumber { return nullNumber }
        let number = UInt32(integers.count)
        integers.append(nil)
        nullNumber = number
        return number
    }

    /// Returns the number of an integer that is not in the table of small ones yet.
    @inline(never)
    private mutating func newNumber(_ integer: Int64) -> UInt32 {
        guard integer >= 0, integer < IntegerNumbering.directLimit else { return hashed(integer) }
        let index = Int(integer)
        if index >= direct.count - 1 {
            let size = min(max(direct.count * 2, index + 1, 256), IntegerNumbering.directLimit)
            direct += [UInt32](repeating: 0, count: size + 1 - direct.count)
        }
        integers.append(integer)
        direct[index] = UInt32(integers.count)
        return UInt32(integers.count - 1)
    }

    /// Returns the number of an integer from the hash table, which gets one if it has none.
    private mutating func hashed(_ integer: Int64) -> UInt32 {
        if hashedCount * 2 >= slotNumbers.count { grow() }
        let slot = slot(of: integer)
        if slotNumbers[slot] != 0 { return slotNumbers[slot] - 1 }
        integers.append(integer)
        slotIntegers[slot] = integer
        slotNumbers[slot] = UInt32(integers.count)
        hashedCount += 1
        return UInt32(integers.count - 1)
    }

    /// Returns the slot that has an integer, or the free one where it belongs.
    private func slot(of integer: Int64) -> Int {
        let mask = slotNumbers.count - 1
        var slot = Int(truncatingIfNeeded: IntegerNumbering.mixed(integer)) & mask
        while slotNumbers[slot] != 0, slotIntegers[slot] != integer { slot = (slot + 1) & mask }
        return slot
    }

    /// Makes the hash table four times as large and inserts its integers again.
    private mutating func grow() {
        let old = zip(slotIntegers, slotNumbers).filter { $0.1 != 0 }
        let size = max(slotNumbers.count * 4, 256)
        slotIntegers = [Int64](repeating: 0, count: size)
        slotNumbers = [UInt32](repeating: 0, count: size)
        for (integer, number) in old {
            let slot = slot(of: integer)
            slotIntegers[slot] = integer
            slotNumbers[slot] = number
        }
    }

    /// The seed of all hashes of this process, so that clients cannot choose integers that collide.
    private static let seed = UInt64.random(in: .min ... .max)

    /// Returns a hash of an integer in which every bit depends on every bit, for tables of this process.
    ///
    /// - Parameters:
    ///   - state: The hash of what comes before, to hash several integers.
    package static func mixed(_ integer: Int64, after state: UInt64 = 0) -> UInt64 {
        var hash = (UInt64(bitPattern: integer) ^ seed &+ state) &* 0x9e37_79b9_7f4a_7c15
        hash = (hash ^ hash &>> 32) &* 0xd6e8_feb8_6659_fd93
        return hash ^ hash &>> 32
    }
}

extension PackedIntegers {
    /// Copies the elements in the rows of a mask, widened to 64 bits.
    ///
    /// - Parameters:
    ///   - rows: The rows, whose first one is element `start`; all of them must exist.
    ///   - start: The element that row 0 represents.
    ///   - integers: Receives the elements from its beginning; it has room for a mask.
    package func copy(_ rows: Mask, start: Int = 0, into integers: inout [Int64]) {
        precondition(integers.count >= Mask.capacity, "too little room for the elements of a leaf")
        guard let last = rows.last else { return }
        withUnpacked(start: start, count: last &+ 1) { elements in
            var index = 0
            rows.forEach { row in
                integers[index] = elements[row]
                index &+= 1
            }
        }
    }
}
