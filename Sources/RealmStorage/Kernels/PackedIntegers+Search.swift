// SPDX-License-Identifier: Apache-2.0

/// Binary search in ascending keys and offsets, most of which are unsigned at every width.
extension PackedIntegers {
    /// Returns the first index whose element, read as unsigned, is at least `key`; `count` when there is none.
    ///
    /// The elements must ascend as unsigned numbers; if they do not, the result is some index in `0...count`.
    ///
    /// - Complexity: O(log n).
    package func lowerBound(_ key: UInt64) -> Int {
        switch widthCode {
        case 4: return lowerBound(key, UInt8.self)
        case 5: return lowerBound(key, UInt16.self)
        case 6: return lowerBound(key, UInt32.self)
        case 7: return lowerBound(key, UInt64.self)
        default: return narrowLowerBound(key)
        }
    }

    /// Returns the first index whose element, read as unsigned, is greater than `key`; `count` when there is none.
    package func upperBound(_ key: UInt64) -> Int { key == .max ? count : lowerBound(key &+ 1) }

    /// Returns the index of the element that equals `key` when read as unsigned, or nil.
    ///
    /// - Complexity: O(log n), as the elements must ascend as unsigned numbers.
    package func index(ofUnsigned key: UInt64) -> Int? {
        let index = lowerBound(key)
        guard index < count else { return nil }
        let ones: UInt64 = width == 64 ? .max : (1 << UInt64(width)) - 1
        return UInt64(bitPattern: self[index]) & ones == key ? index : nil
    }

    /// Returns the first index whose element is at least `key`; `count` when there is none. It
    /// searches the keys of index nodes.
    ///
    /// The elements must ascend as signed numbers; if they do not, the result is some index in `0...count`.
    ///
    /// - Complexity: O(log n), and mostly a few steps where the keys are evenly spread.
    package func lowerBound(signed key: Int64) -> Int {
        switch widthCode {
        case 4: return lowerBound(signed: key, Int8.self)
        case 5: return lowerBound(signed: key, Int16.self)
        case 6: return lowerBound(signed: key, Int32.self)
        case 7: return lowerBound(signed: key, Int64.self)
        default: return key < 0 ? 0 : narrowLowerBound(UInt64(key))
        }
    }

    /// Searches elements of one width, unsigned; a key that the width cannot hold is greater than all elements.
    @inline(__always)
    private func lowerBound<Number: FixedWidthInteger & UnsignedInteger>(_ key: UInt64, _: Number.Type) -> Int {
        key <= UInt64(Number.max) ? firstIndex(notBelow: Number(truncatingIfNeeded: key)) : count
    }

    /// Searches elements of one width, signed; a key that the width cannot hold is greater than all elements.
    @inline(__always)
    private func lowerBound<Number: FixedWidthInteger & SignedInteger>(signed key: Int64, _: Number.Type) -> Int {
        guard key <= Int64(Number.max) else { return count }
        let wanted = Number(clamping: key)
        guard count > PackedIntegers.fewElements else { return firstIndex(notBelow: wanted) }
        return interpolatedIndex(notBelow: wanted)
    }

    /// Up to this many elements are searched by halving alone.
    private static let fewElements = 64

    /// Searches first where the element would be if all were evenly spread, and then in steps of growing length from there.
    ///
    /// Keys of indexes mostly are evenly spread, and each element that is read costs an access to
    /// memory. It never needs more than twice the steps of halving.
    @inline(__always)
    private func interpolatedIndex<Number: FixedWidthInteger>(notBelow wanted: Number) -> Int {
        let least = element(0, Number.self)
        let greatest = element(count &- 1, Number.self)
        guard wanted > least else { return 0 }
        guard wanted <= greatest else { return count }
        // Element 0 is below, the last one is not: the answer lies after `low` and not after `high`.
        var low = 0
        var high = count &- 1
        // Large neighbours may be one number when rounded.
        let range = Double(greatest) - Double(least)
        let share = range > 0 ? (Double(wanted) - Double(least)) / range : 0
        let guess = Swift.min(Swift.max(Int(share * Double(high)), 1), high)
        var step = 8
        if element(guess, Number.self) < wanted {
            low = guess
            while low &+ step < high, element(low &+ step, Number.self) < wanted {
                low &+= step
                step &*= 2
            }
            high = Swift.min(low &+ step, high)
        } else {
            high = guess
            while high &- step > low, element(high &- step, Number.self) >= wanted {
                high &-= step
                step &*= 2
            }
            low = Swift.max(high &- step, low)
        }
        return low &+ 1 &+ firstIndex(notBelow: wanted, from: low &+ 1, count: high &- low &- 1)
    }

    /// Reads element `index`, which the caller has checked to be below the count.
    @inline(__always)
    private func element<Number: FixedWidthInteger>(_ index: Int, _: Number.Type) -> Number {
        unsafe payload.loadUnaligned(fromByteOffset: index &* MemoryLayout<Number>.size, as: Number.self)
    }

    /// Searches the whole array by halving.
    @inline(__always)
    private func firstIndex<Number: FixedWidthInteger>(notBelow wanted: Number) -> Int {
        firstIndex(notBelow: wanted, from: 0, count: count)
    }

    /// Returns how many of the `count` elements from `start` on come before the first that is not below `wanted`.
    ///
    /// It halves the run without a branch that depends on the elements, which the processor could not predict.
    @inline(__always)
    private func firstIndex<Number: FixedWidthInteger>(notBelow wanted: Number, from start: Int, count: Int) -> Int {
        var first = 0
        var rest = count
        while rest > 0 {
            let half = rest &>> 1
            // In bounds: `first + half` is below the count.
            let isBelow = element(start &+ first &+ half, Number.self) < wanted
            first = isBelow ? first &+ half &+ 1 : first
            rest = isBelow ? rest &- half &- 1 : half
        }
        return first
    }

    /// Searches elements of less than a byte, which share bytes, by halving.
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
