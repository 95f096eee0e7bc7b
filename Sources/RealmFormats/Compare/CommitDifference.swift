// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
package import RealmStorage

/// The objects that differ between two versions of one file, with their rows in both.
package struct CommitDifference: Sendable {
    /// An object that differs.
    package struct Change: Sendable {
        package let className: String
        /// The key of the object in URLs: its primary key, or its object key.
        package let key: String
        /// The object in the earlier version; nil for one that was added.
        package let old: Row?
        /// The object in the later version; nil for one that was removed.
        package let new: Row?
        /// The names of the properties that differ, as the file has them; those of an added or removed object.
        package let properties: [String]
    }

    package let changes: [Change]
    package let hasSchemaChanges: Bool

    /// Compares two versions that are both whole.
    ///
    /// - Parameters:
    ///   - limit: The most objects that may differ.
    ///   - budget: Ends the comparison when it is used up.
    /// - Throws: `too_many_affected` for more objects, or the problem of a version that cannot be read.
    package init(from old: Snapshot, to new: Snapshot, limit: Int, _ budget: WorkBudget) throws(Problem) {
        let list = ListedDifferences(limit: limit)
        let options = ComparisonOptions(identity: .objectKey, sharesNodes: true)
        let stream = try ComparisonStream(
            from: ComparedVersion(old, version: ""), to: ComparedVersion(new, version: ""), options, budget, secondsPerChunk: nil
        ) { _ in list }
        let buffer = OutputBuffer()
        do {
            while try !stream.produce(into: buffer) { try budget.spend() }
        } catch let error as StorageError {
            throw list.isFull ? CommitDifference.tooMany(limit) : Problem(serving: error)
        } catch {
            throw Problem(.internalError, "the versions could not be compared")
        }
        changes = list.changes
        hasSchemaChanges = list.hasSchemaChanges
    }

    private static func tooMany(_ limit: Int) -> Problem {
        Problem(.tooManyAffected, "more than \(limit) objects differ").with("limit", .integer(Int64(limit)))
    }
}

/// Lists differences in the place of writing them. One thread at a time uses it.
private final class ListedDifferences: DifferenceWriter {
    private let limit: Int
    private(set) var changes: [CommitDifference.Change] = []
    private(set) var hasSchemaChanges = false
    private(set) var isFull = false

    init(limit: Int) { self.limit = limit }

    func begin(_ buffer: OutputBuffer) {}

    func write(_ difference: SchemaDifference, to buffer: OutputBuffer) { hasSchemaChanges = true }

    func write(_ difference: ObjectDifference, to buffer: OutputBuffer) throws(StorageError) {
        guard changes.count < limit else {
            isFull = true
            throw .limit("more than \(limit) objects differ")
        }
        let columns = difference.properties.compactMap { ($0.old ?? $0.new)?.column.name }
        changes.append(
            CommitDifference.Change(
                className: difference.objectClass.name, key: try difference.keyText(), old: difference.old, new: difference.new,
                properties: columns))
    }

    func end(_ counts: DifferenceCounts, _ buffer: OutputBuffer) {}
}
