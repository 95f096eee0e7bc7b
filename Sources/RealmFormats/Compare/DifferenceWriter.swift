// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Writes the differences of two versions in their order. One thread at a time uses it.
protocol DifferenceWriter: AnyObject {
    /// Writes what comes before all differences.
    func begin(_ buffer: OutputBuffer)
    func write(_ difference: SchemaDifference, to buffer: OutputBuffer)
    /// Writes an object that differs. Those of a class follow each other.
    ///
    /// - Throws: An error of storage, or of a budget that is used up.
    func write(_ difference: ObjectDifference, to buffer: OutputBuffer) throws(StorageError)
    /// Writes what comes after all differences.
    func end(_ counts: DifferenceCounts, _ buffer: OutputBuffer)
}
