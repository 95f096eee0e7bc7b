// SPDX-License-Identifier: Apache-2.0

/// Which step of a migration is being done.
///
/// Steps count alike, whatever each of them costs: how many objects a step concerns is only known when it begins.
struct StepProgress {
    /// From 0.
    let step: Int
    /// How many steps there are.
    let count: Int

    /// Step number `step` of `count`, from 0.
    init(step: Int, of count: Int) {
        self.step = step
        self.count = count
    }

    /// How much of the migration is done when `part` of this step is; both from 0 to 1.
    func whole(_ part: Double) -> Double { (Double(step) + part) / Double(count) }
}
