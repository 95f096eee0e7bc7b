// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
package import RealmStorage

extension DifferenceCounts {
    /// Counts the differences of two versions of one file, of which both are whole.
    ///
    /// - Parameter budget: Ends the comparison when it is used up.
    /// - Throws: The problem of a version that cannot be read, or of a budget that is used up.
    package static func counting(
        from old: Snapshot, to new: Snapshot, _ budget: WorkBudget
    ) throws(Problem) -> DifferenceCounts {
        let options = ComparisonOptions(identity: .objectKey, sharesNodes: true)
        let stream = try ComparisonStream(
            from: ComparedVersion(old, version: ""), to: ComparedVersion(new, version: ""), options, budget, secondsPerChunk: nil
        ) { _ in UnwrittenDifferences() }
        let buffer = OutputBuffer()
        do {
            while try !stream.produce(into: buffer) { try budget.spend() }
        } catch let error as StorageError {
            throw Problem(serving: error)
        } catch {
            throw Problem(.internalError, "the versions could not be compared")
        }
        return stream.counts
    }
}

/// Writes nothing: the differences are only counted.
private final class UnwrittenDifferences: DifferenceWriter {
    func begin(_ buffer: OutputBuffer) {}
    func write(_ difference: SchemaDifference, to buffer: OutputBuffer) {}
    func write(_ difference: ObjectDifference, to buffer: OutputBuffer) throws(StorageError) {}
    func end(_ counts: DifferenceCounts, _ buffer: OutputBuffer) {}
}
