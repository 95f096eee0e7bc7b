// SPDX-License-Identifier: Apache-2.0

/// Binary search in ascending keys and offsets, most of which are unsigned at every width.
extension PackedIntegers {
    /// The first index whose element, read as unsigned, is at least `key`; `count` when there is none.
    ///
    /// The elements must ascend as unsigned numbers; if they do not, the answer is some index. O(log n).
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

    /// The first index whose element is at least `key`; `count` when there is none. For the keys of index nodes.
    ///
    /// The elements must ascend as signed numbers; if they do not, the answer is some index. O(log n), and mostly few steps where
    /// the keys are evenly spread.
    package func lowerBound(signed key: Int64) -> Int {
        switch widthCode {
        case 4: return lowerBound(signed: key, Int8.self)
        case 5: return lowerBound(signed: key, Int16.self)
        case 6: return lowerBound(signed: key, Int32.self)
        case 7: return lowerBound(signed: key, Int64.self)
        default: return key < 0 ? 0 : narrowLowerBound(UInt64(key))
        }
    }

    /// The search for one width; a key beyond the width is greater than all elements.
    @inline(__always)
    private func lowerBound<Number: FixedWidthInteger & UnsignedInteger>(_ key: UInt64, _: Number.Type) -> Int {
        key <= UInt64(Number.max) ? firstIndex(notBelow: Number(truncatingIfNeeded: key)) : count
    }

    /// The search for one width; a key beyond the width is greater than all elements.
    @inline(__always)
    private func lowerBound<Number: FixedWidthInteger & SignedInteger>(signed key: Int64, _: Number.Type) -> Int {
        guard key <= Int64(Number.max) else { return count }
        let wanted = Number(clamping: key)
        guard count > PackedIntegers.fewElements else { return firstIndex(notBelow: wanted) }
        return interpolatedIndex(notBelow: wanted)
    }

    /// Up to so many elements are searched by halving alone.
    private static let fewElements = 64

    /// Looks first where the element would be if all were evenly spread, and then ever further from there. Keys of
    /// indexes mostly are spread, and each place looked at costs an access to memory. Never needs more than twice the
    /// steps of halving.
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

    /// In bounds: the caller's index is below the count.
    @inline(__always)
    private func element<Number: FixedWidthInteger>(_ index: Int, _: Number.Type) -> Number {
        unsafe payload.loadUnaligned(fromByteOffset: index &* MemoryLayout<Number>.size, as: Number.self)
    }

    /// Halves the whole array.
    @inline(__always)
    private func firstIndex<Number: FixedWidthInteger>(notBelow wanted: Number) -> Int {
        firstIndex(notBelow: wanted, from: 0, count: count)
    }

    /// How many of the `count` elements from `start` on come before the first that is not below `wanted`.
    ///
    /// Halves the run without a branch that the processor would have to guess.
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

    /// For widths below a byte, whose elements share bytes.
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
