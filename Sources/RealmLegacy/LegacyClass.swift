// SPDX-License-Identifier: Apache-2.0

/// An old table as the class that it becomes.
struct LegacyClass {
    let table: LegacyTable
    /// The name of the class, without prefix.
    let name: String
    /// The properties in the order of the columns.
    var properties: [LegacyProperty]
    /// The number of the primary key among the properties; nil for none.
    var primaryKey: Int?
}
