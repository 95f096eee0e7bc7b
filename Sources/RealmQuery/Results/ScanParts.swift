// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// A part of the objects of a class: those behind one key, up to another.
struct ScanPart: Sendable {
    /// The key behind which the part begins; nil for the first part.
    let after: ObjectKey?
    /// The last key of the part; nil for the last part.
    let through: ObjectKey?

    /// The least number of objects in a part: some tenths of a millisecond of work.
    private static let leastCount = 1 << 15
    /// The greatest number of parts, which bounds the work of finding their limits.
    private static let greatestNumber = 64

    /// Returns the parts of a class, which depend on the number of its objects alone; nil for a class that is too small for more
    /// than one thread.
    static func parts(of table: Table) throws(StorageError) -> [ScanPart]? {
        let count = table.count
        guard count >= 4 * leastCount else { return nil }
        let size = max(leastCount, (count + greatestNumber - 1) / greatestNumber)
        var parts: [ScanPart] = []
        var after: ObjectKey?
        for end in stride(from: size, to: count, by: size) {
            guard let key = try table.objects.row(at: end - 1)?.key else { return nil }
            parts.append(ScanPart(after: after, through: key))
            after = key
        }
        return parts + [ScanPart(after: after, through: nil)]
    }
}

/// The results of one part.
struct ScanPartial: Sendable {
    /// The number of matches in the part.
    let count: Int
    /// The partial aggregates of them, in the order of the requests.
    let aggregates: [AggregatePartial]
}

/// A partial aggregate of some values, which can be combined with that of others.
enum AggregatePartial: Sendable {
    /// Of integers: the exact sum, the sum as doubles, and the extreme value.
    case int(sum: Int128, real: RealSum, extreme: Int64?)
    case real(RealSum, extreme: Double?)
    /// Of dates: the extreme one.
    case date(Timestamp?)
    case values(ValueFold)
}

/// The parts of a scan, as the threads that work on it share them: each takes the next part when it has finished one.
final class ScanQueue: Sendable {
    let parts: [ScanPart]
    /// The position of the next part to take.
    private let next = Atomic(0)
    /// Whether helpers should leave.
    private let stopped = Atomic(false)
    /// The results by part; nil for those that are not finished.
    private let partials: RankedMutex<[ScanPartial?]>

    /// Makes a board on which nothing is finished.
    init(_ parts: [ScanPart]) {
        self.parts = parts
        partials = RankedMutex(.leaf, [ScanPartial?](repeating: nil, count: parts.count))
    }

    /// Whether the scan has ended, with or without results.
    var isStopped: Bool { stopped.load(ordering: .relaxed) }

    /// Asks the helpers to leave.
    func stop() { stopped.store(true, ordering: .relaxed) }

    /// Takes the next part; nil when there is none, or the scan has ended.
    func dequeue() -> Int? {
        guard !isStopped else { return nil }
        let position = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return position < parts.count ? position : nil
    }

    /// The results by part; nil for those that are not finished.
    var results: [ScanPartial?] { partials.withLock { $0 } }

    /// Whether a part is finished.
    func has(_ position: Int) -> Bool { partials.withLock { $0[position] != nil } }

    /// Stores the result of a part.
    func store(_ partial: ScanPartial, at position: Int) { partials.withLock { $0[position] = partial } }
}
