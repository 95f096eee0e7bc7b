// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The step of a migration that is in progress, for the progress of an asynchronous write.
///
/// All steps count the same, whatever they cost, because the number of objects that a step processes is
/// known only when it begins.
struct StepProgress {
    /// The index of the step, from 0.
    let step: Int
    let count: Int

    /// Makes the position of a step.
    init(step: Int, of count: Int) {
        self.step = step
        self.count = count
    }

    /// Returns the part of the migration that is done.
    ///
    /// - Parameter part: The part of the present step that is done, from 0 to 1.
    /// - Returns: The part of the whole, from 0 to 1.
    func whole(_ part: Double) -> Double { (Double(step) + part) / Double(count) }
}

extension WriteSession {
    /// The state of a migration that its steps share.
    struct MigrationWork {
        /// The file as it was before the migration; nil outside migrations.
        var past: Snapshot?
        /// The number of rounds that all loops have made so far.
        var rounds = 0
        /// The estimated memory in bytes of the values that were computed for the present object.
        var computedBytes = 0
    }
}
