// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

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
