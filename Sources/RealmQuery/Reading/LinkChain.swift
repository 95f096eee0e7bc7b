// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The links of a key path, followed for one object at a time.
///
/// A chain may be empty: then it leads to the object itself. It keeps the leaves that it read last,
/// so it is used by one thread at a time.
final class LinkChain {
    /// The links of the path, in the order in which they are followed.
    let steps: [LinkStep]
    /// Whether every step is a to-one link, so that the chain leads to one object at most.
    let isUnary: Bool
    /// The check that can stop the query while the chain is followed; nil where a caller limits the work itself.
    let cancellation: CancellationCheck?
    private let readers: [StepReader]
    /// The finder of the objects that each step leads to.
    private let finders: [ObjectFinder]

    /// Creates a chain from resolved steps; without steps it leads to the object itself.
    ///
    /// - Parameters:
    ///   - steps: The links in the order in which they are followed.
    ///   - cancellation: The check that can stop the query.
    init(_ steps: [LinkStep], _ cancellation: CancellationCheck? = nil) {
        self.steps = steps
        self.cancellation = cancellation
        isUnary = steps.allSatisfy { $0.kind == .link }
        readers = steps.map { StepReader($0, cancellation) }
        finders = steps.map { ObjectFinder($0.target, cancellation) }
    }

    /// Whether the chain has no step and leads to the object itself.
    var isEmpty: Bool { steps.isEmpty }
    /// The reader of the step of a chain that has one alone.
    var onlyStep: StepReader? { readers.count == 1 ? readers[0] : nil }
    /// The class that the last step leads to; nil for an empty chain.
    var target: Table? { steps.last?.target }

    /// Calls a closure with the key of every object that the chain reaches, in order and with repetitions.
    ///
    /// Null and unresolved links lead nowhere. The objects of the last step are not read.
    ///
    /// - Parameters:
    ///   - row: The object at which the chain starts.
    ///   - body: Takes a key and returns whether to continue.
    /// - Throws: A storage error when the file is damaged or the check of the query asks to stop,
    ///   and what `body` throws.
    func forEachKey(
        from row: borrowing Row, _ body: (ObjectKey) throws(StorageError) -> Bool
    ) throws(StorageError) {
        guard !steps.isEmpty else {
            _ = try body(row.key)
            return
        }
        _ = try walk(0, row, body)
    }

    /// Calls a closure with every object that the chain reaches, in order and with repetitions.
    ///
    /// - Parameters:
    ///   - row: The object at which the chain starts.
    ///   - body: Takes an object and returns whether to continue.
    /// - Throws: The same errors as `forEachKey`.
    func forEachRow(
        from row: borrowing Row, _ body: (Row) throws(StorageError) -> Bool
    ) throws(StorageError) {
        guard let finder = finders.last else {
            _ = try body(copy row)
            return
        }
        _ = try walk(0, row) { key throws(StorageError) in
            guard let target = try finder.find(key) else { return true }
            return try body(target)
        }
    }

    /// Returns the one object that a chain of to-one links reaches; nil when a link on the way is null.
    func target(of row: borrowing Row) throws(StorageError) -> Row? {
        var current = copy row
        for index in steps.indices {
            guard let next = try finders[index].find(try readers[index].link(current)) else { return nil }
            current = next
        }
        return current
    }

    /// Follows the steps from `level` on, depth first. Returns false when the closure asked to stop.
    ///
    /// The recursion is as deep as the path is long, at most `Parser.maximumPathLength`.
    private func walk(
        _ level: Int, _ row: borrowing Row, _ body: (ObjectKey) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        try readers[level].forEachTarget(of: row) { key throws(StorageError) in
            try cancellation?.step()
            guard level + 1 < steps.count else { return try body(key) }
            guard let next = try finders[level].find(key) else { return true }
            return try walk(level + 1, next, body)
        }
    }
}
