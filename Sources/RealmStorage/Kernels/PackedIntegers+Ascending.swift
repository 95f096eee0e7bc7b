// SPDX-License-Identifier: Apache-2.0

/// The check of order that walks of cluster trees make for every leaf.
extension PackedIntegers {
    /// Do the elements, read as unsigned numbers, ascend strictly?
    ///
    /// Branch-free over the run, because every visit of a cluster leaf asks.
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

    /// For widths below a byte, whose elements share bytes.
    private func ascendsElementwise() -> Bool {
        for index in 1..<count where self[index - 1] >= self[index] { return false }
        return true
    }

    /// In bounds: `count` elements of this size lie in the payload.
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
