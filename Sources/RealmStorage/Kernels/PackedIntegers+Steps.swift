// SPDX-License-Identifier: Apache-2.0

/// Differences between neighbours in a run of packed integers.
extension PackedIntegers {
    /// Returns which elements are greater than the one before by `step`; the element before the first one of the array is 0.
    ///
    /// Elements that do not ascend may be among the result by mistake.
    ///
    /// - Parameters:
    ///   - step: The difference, which is not negative.
    ///   - start: The element that bit 0 of the result represents.
    ///   - count: How many elements are tested, at most 256; all of them must exist.
    func isStep(_ step: Int64, start: Int, count: Int) -> Mask {
        checkRun(start, count)
        guard range.contains(step), count > 0 else { return .none }
        guard start == 0 else { return steps(step, start, count) }
        let rest = steps(step, 1, count &- 1).shiftedUp()
        return self[0] == step ? rest | Mask(first: 1) : rest
    }

    /// Tests a run that does not begin with the first element of the array.
    private func steps(_ step: Int64, _ start: Int, _ count: Int) -> Mask {
        // The kernel reads up to 64 elements that end with the run, and one before these.
        guard start &+ count > 64 else { return fewSteps(step, start, count) }
        switch widthCode {
        case 4: return unsafe StepKernel(Int8(truncatingIfNeeded: step)).mask(payload, start: start, count: count)
        case 5: return unsafe StepKernel(Int16(truncatingIfNeeded: step)).mask(payload, start: start, count: count)
        case 6: return unsafe StepKernel(Int32(truncatingIfNeeded: step)).mask(payload, start: start, count: count)
        case 7: return unsafe StepKernel(step).mask(payload, start: start, count: count)
        default: return fewSteps(step, start, count)
        }
    }

    /// Tests elements one by one.
    private func fewSteps(_ step: Int64, _ start: Int, _ count: Int) -> Mask {
        var rows = AscendingRows()
        var previous = self[start &- 1]
        for index in 0..<count {
            let element = self[start &+ index]
            if element &- previous == step { rows.insert(index) }
            previous = element
        }
        return rows.mask
    }
}

/// Collects rows that are added in ascending order into a mask, without writing to a vector for each of them.
///
/// The word of the present group of 64 rows stays in a register until the next group begins;
/// setting bits of a vector by a variable index would cost several instructions for each row.
struct AscendingRows {
    /// The words of the groups of 64 rows that are complete.
    private var words = SIMD4<UInt64>.zero
    /// The word of the group that rows are added to.
    private var word: UInt64 = 0
    /// The number, 0 to 3, of the group of 64 rows that rows are added to.
    private var group = 0

    /// Adds a row.
    ///
    /// - Parameter row: A row below 256 that is not below any row added before.
    @inline(__always)
    mutating func insert(_ row: Int) {
        if row &>> 6 != group { close(row &>> 6) }
        word |= 1 &<< UInt64(truncatingIfNeeded: row)
    }

    /// Stores the word of the present group and begins group `next`.
    private mutating func close(_ next: Int) {
        words[group & 3] = word
        word = 0
        group = next
    }

    /// The mask of the rows that were added.
    ///
    /// Rows may still be added after it was read.
    var mask: Mask {
        var words = self.words
        words[group & 3] = word
        return Mask(words: words)
    }
}

/// A kernel that finds elements which are greater than the one before them by a constant.
///
/// In an array of ends it finds the values of one length. Differences wrap around, which those of ends that ascend never do.
struct StepKernel<Element: PackedElement>: MaskKernel {
    /// The constant in all sixteen lanes.
    private let step: SIMD16<Element>

    /// Makes a kernel that finds elements greater by `step`.
    @inline(__always) init(_ step: Element) { self.step = SIMD16(repeating: step) }

    /// The size of an element in bytes.
    @inline(__always) static var elementByteCount: Int { Element.byteCount }

    /// Tests 64 elements from `pointer` on, which must be readable with the one before them.
    @inline(__always) func word(at pointer: UnsafeRawPointer) -> UInt64 {
        unsafe LanePacking.word(of: lanes(pointer, 0), lanes(pointer, 16), lanes(pointer, 32), lanes(pointer, 48))
    }

    /// Tests sixteen elements from element `index` on.
    @inline(__always)
    private func lanes(_ pointer: UnsafeRawPointer, _ index: Int) -> ByteLanes {
        unsafe Element.equal(Element.load(pointer, index) &- Element.load(pointer, index &- 1), step)
    }
}
