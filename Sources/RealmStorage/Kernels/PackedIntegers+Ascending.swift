// SPDX-License-Identifier: Apache-2.0

/// The check for ascending keys, which is made for every leaf of a cluster tree that is visited.
extension PackedIntegers {
    /// Returns whether the elements, read as unsigned numbers, ascend strictly.
    ///
    /// The loop has no branches that depend on the elements, because every visit of a cluster leaf calls it.
    ///
    /// - Complexity: O(count).
    func ascendsUnsigned() -> Bool {
        guard count > 1 else { return true }
        switch widthCode {
        case 0: return false
        case 1, 2, 3: return ascendsElementwise()
        case 4: return ascends(UInt8.self)
        case 5: return ascends(UInt16.self)
        case 6: return ascends(UInt32.self)
        default: return ascends(UInt64.self)
        }
    }

    /// Returns whether elements of less than a byte ascend strictly, one by one.
    private func ascendsElementwise() -> Bool {
        for index in 1..<count where self[index - 1] >= self[index] { return false }
        return true
    }

    /// Returns whether elements of whole bytes ascend strictly. All reads are in bounds, as `count`
    /// elements of this size lie in the payload.
    private func ascends<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type) -> Bool {
        let size = MemoryLayout<Number>.size
        var isAscending = true
        var previous = unsafe Number(littleEndian: payload.loadUnaligned(as: Number.self))
        for index in 1..<count {
            let next = unsafe Number(littleEndian: payload.loadUnaligned(fromByteOffset: index &* size, as: Number.self))
            isAscending = isAscending && previous < next
            previous = next
        }
        return isAscending
    }
}
