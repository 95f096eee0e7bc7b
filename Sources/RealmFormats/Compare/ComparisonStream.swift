// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// Compares two versions, and writes their differences chunk by chunk.
///
/// It holds both versions as long as it lives. Its memory does not depend on the number of objects, but for classes without a
/// primary key that are compared by their contents (`ContentNodes.limit`), and for old files without an index of a primary key
/// (`KeyFinder`).
///
/// `@unchecked Sendable`: producers of chunks are never called twice at the same time.
package final class ComparisonStream: ChunkProducer, @unchecked Sendable {
    /// The next part of the comparison.
    private enum Stage {
        case beginning
        /// Pairs objects by their contents.
        case pairing
        /// The schema difference of this position.
        case schema(Int)
        /// The class of this position.
        case objects(Int)
        case done
    }

    /// The seconds after which other work gets its turn, where nothing is found.
    private static let secondsOfSearch = 0.1

    private let realms: ComparedRealms
    private let comparison: RowComparison
    private let writer: any DifferenceWriter
    private let budget: WorkBudget
    private let pace: StreamPace
    private let schemaDifferences: [SchemaDifference]
    private var stage = Stage.beginning
    /// The objects of the present class that are still to be compared; nil before the first.
    private var walk: ClassWalk?
    /// Objects that differ and are not written yet.
    private var found: ArraySlice<ObjectDifference> = []
    /// The differences so far.
    package private(set) var counts = DifferenceCounts()

    /// Compares two versions.
    ///
    /// - Parameters:
    ///   - old: The earlier version.
    ///   - new: The later version.
    ///   - budget: The limit of work, time and bytes of each object.
    ///   - secondsPerChunk: The time limit of one chunk; nil for none.
    /// - Throws: The problem `class_not_found` for a class that neither version has.
    package convenience init(
        from old: ComparedVersion, to new: ComparedVersion, _ options: ComparisonOptions, format: ComparisonFormat,
        budget: WorkBudget = WorkBudget(), secondsPerChunk: Int? = nil
    ) throws(Problem) {
        try self.init(from: old, to: new, options, budget, secondsPerChunk: secondsPerChunk) { format.writer($0) }
    }

    /// Compares two versions for a writer of their differences.
    init(
        from old: ComparedVersion, to new: ComparedVersion, _ options: ComparisonOptions, _ budget: WorkBudget,
        secondsPerChunk: Int?, _ makeWriter: (ComparedRealms) -> any DifferenceWriter
    ) throws(Problem) {
        for name in options.classes ?? []
        where old.snapshot.classTable(named: name) == nil && new.snapshot.classTable(named: name) == nil {
            throw Problem.noClass(name, in: new.snapshot).with("parameter", "class")
        }
        realms = try ComparedRealms(old, new, options, budget: budget)
        comparison = RowComparison(realms, budget)
        writer = makeWriter(realms)
        schemaDifferences = SchemaDifference.all(from: RealmSchema(old.snapshot), to: RealmSchema(new.snapshot))
            .filter { $0.className.map(options.includes) ?? true }
        self.budget = budget
        pace = StreamPace(budget, secondsPerChunk)
    }

    /// Compares until a chunk is full, or other work gets its turn.
    ///
    /// - Returns: Whether the comparison is complete.
    /// - Throws: An error of storage, a limit, or that the budget of an object is used up.
    package func produce(into buffer: OutputBuffer) throws -> Bool {
        pace.beginChunk()
        let end = Instant.now().adding(seconds: ComparisonStream.secondsOfSearch)
        while buffer.count < Streaming.chunkBytes {
            if case .done = stage { return true }
            try step(buffer)
            if Instant.now() > end { break }
        }
        if case .done = stage { return true }
        return false
    }

    private func step(_ buffer: OutputBuffer) throws(StorageError) {
        switch stage {
        case .beginning:
            writer.begin(buffer)
            stage = .schema(0)
        case .schema(let position):
            guard position < schemaDifferences.count else { return stage = .pairing }
            counts.addSchemaDifference()
            writer.write(schemaDifferences[position], to: buffer)
            stage = .schema(position + 1)
        case .pairing:
            if realms.classes.contains(where: \.isByContents) { realms.matches = try ContentMatches(realms, budget) }
            stage = .objects(0)
        case .objects(let position):
            guard position < realms.classes.count else {
                writer.end(counts, buffer)
                return stage = .done
            }
            try compare(realms.classes[position], position, buffer)
        case .done: break
        }
    }

    /// Writes objects that were found, or finds the next ones of a class.
    private func compare(_ one: ComparedClass, _ position: Int, _ buffer: OutputBuffer) throws(StorageError) {
        while let difference = found.first {
            guard buffer.count < Streaming.chunkBytes else { return }
            budget.beginPart(at: buffer.count)
            try writer.write(difference, to: buffer)
            counts.add(difference)
            found.removeFirst()
        }
        if walk == nil, realms.options.includes(one.name) { walk = try ClassWalk(one, comparison, realms.matches) }
        if let next = try walk?.next() {
            found = next[...]
        } else {
            walk = nil
            stage = .objects(position + 1)
        }
    }
}
