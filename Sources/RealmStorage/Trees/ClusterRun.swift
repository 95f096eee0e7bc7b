// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Objects that are added to the end of a cluster tree together, column by column.
package struct ClusterRun {
    /// The keys of the objects, ascending, as unsigned numbers.
    let keys: [UInt64]
    /// The values of the objects for each column, in the order of the writer's columns; nil is the default value. Columns
    /// that are missing at the end get default values.
    let columns: [[Value?]]
    /// The maximum number of objects in a leaf; nil for that of the writer.
    let leafCapacity: Int?

    /// Makes a run.
    ///
    /// - Parameters:
    ///   - keys: The keys of the objects, ascending.
    ///   - columns: A list of as many values as there are keys for each column; nil is the default value.
    ///   - leafCapacity: The maximum number of objects in a leaf, at least one; nil for that of the writer.
    package init(keys: [ObjectKey], columns: [[Value?]], leafCapacity: Int? = nil) {
        self.keys = keys.map { UInt64(bitPattern: $0.rawValue) }
        self.columns = columns
        self.leafCapacity = leafCapacity
    }

    /// Default values for a part of a run.
    static func defaults(_ count: Int) -> ArraySlice<Value?> { [Value?](repeating: nil, count: count)[...] }
}
