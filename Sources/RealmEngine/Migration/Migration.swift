// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A change of the schema together with the conversion of the data, from one schema version to another.
///
/// The HTTP layer makes it from a request or a file, and `WriteSession.migrate` carries it out. All steps
/// are one commit: when one step fails, none of them takes effect.
package struct Migration: Sendable {
    /// The schema version that the file must have at the start; nil means none, and 0 also fits a file
    /// without a schema version.
    package var fromVersion: UInt64?
    /// The schema version that the file has afterwards; it must not be lower than `fromVersion`.
    package var toVersion: UInt64
    /// The steps, carried out in this order in one transaction.
    package var steps: [MigrationStep]
    /// Whether steps may delete objects or values. Without it, a step that would lose data fails with `wouldLoseData`.
    package var allowsDataLoss = false
    /// How member names in the values of `set` and `create` steps refer to properties.
    package var naming: MemberNaming

    /// The maximum number of steps of a migration, those inside loops included.
    static let maximumStepCount = 10_000

    /// Makes a migration.
    ///
    /// - Parameters:
    ///   - from: The schema version that the file must have; nil for none.
    ///   - to: The schema version that the migration leads to.
    ///   - steps: The steps in their order.
    ///   - allowsDataLoss: Whether steps may delete objects or values.
    ///   - naming: How member names of values refer to properties.
    package init(
        from: UInt64?, to: UInt64, _ steps: [MigrationStep], allowsDataLoss: Bool = false, naming: MemberNaming = .plain
    ) {
        fromVersion = from
        toVersion = to
        self.steps = steps
        self.allowsDataLoss = allowsDataLoss
        self.naming = naming
    }
}
