// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// A change of the schema with what happens to the data, from one schema version to another.
///
/// All steps are one commit. When one fails, nothing of the migration has happened.
package struct Migration: Sendable {
    /// Has to be the version of the file; 0 for a file that has none.
    package var fromVersion: UInt64
    /// The version that the file has afterwards; not lower than `fromVersion`.
    package var toVersion: UInt64
    /// What is done, in this order, in one transaction.
    package var steps: [MigrationStep]
    /// Without it, steps that lose data are refused.
    package var allowsDataLoss = false
    /// How the members of values name properties.
    package var naming: MemberNaming

    /// `steps` lead from version `from` to version `to`.
    package init(
        from: UInt64, to: UInt64, _ steps: [MigrationStep], allowsDataLoss: Bool = false, naming: MemberNaming = .plain
    ) {
        fromVersion = from
        toVersion = to
        self.steps = steps
        self.allowsDataLoss = allowsDataLoss
        self.naming = naming
    }
}
