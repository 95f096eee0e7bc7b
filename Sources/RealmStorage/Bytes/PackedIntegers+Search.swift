// SPDX-License-Identifier: Apache-2.0

/// Binary search in ascending keys and offsets, which are unsigned at every width.
extension PackedIntegers {
    /// The first index whose element, read as unsigned, is at least `key`; `count` when there is none.
    package func lowerBound(_ key: UInt64) -> Int {
        switch widthCode {
        case 4: return lowerBound(key, UInt8.self)
        case 5: return lowerBound(key, UInt16.self)
        case 6: return lowerBound(key, UInt32.self)
        case 7: return lowerBound(key, UInt64.self)
        default: return narrowLowerBound(key)
        }
    }

    /// The first index whose element, read as unsigned, is greater than `key`; `count` when there is none.
    package func upperBound(_ key: UInt64) -> Int { key == .max ? count : lowerBound(key &+ 1) }

    /// The index of the element that is `key` when read as unsigned, or nil.
    package func index(ofUnsigned key: UInt64) -> Int? {
        let index = lowerBound(key)
        guard index < count else { return nil }
        let ones: UInt64 = width == 64 ? .max : (1 << UInt64(width)) - 1
        return UInt64(bitPattern: self[index]) & ones == key ? index : nil
    }

    /// Halves the run without a branch that the processor would have to guess.
    @inline(__always)
    private func lowerBound<Number: FixedWidthInteger & UnsignedInteger>(_ key: UInt64, _: Number.Type) -> Int {
        guard key <= UInt64(Number.max) else { return count }
        let wanted = Number(truncatingIfNeeded: key)
        var first = 0
        var rest = count
        while rest > 0 {
            let half = rest &>> 1
            // In bounds: `first + half` is below the count.
            let middle = payload.loadUnaligned(
                fromByteOffset: (first &+ half) &* MemoryLayout<Number>.size, as: Number.self)
            let isBelow = middle < wanted
            first = isBelow ? first &+ half &+ 1 : first
            rest = isBelow ? rest &- half &- 1 : half
        }
        return first
    }

    private func narrowLowerBound(_ key: UInt64) -> Int {
        var first = 0
        var rest = count
        while rest > 0 {
            let half = rest &>> 1
            if UInt64(bitPattern: self[first &+ half]) < key {
                first &+= half &+ 1
                rest &-= half &+ 1
            } else {
                rest = half
            }
        }
        return first
    }
}
