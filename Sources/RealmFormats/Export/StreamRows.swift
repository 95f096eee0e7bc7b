// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
package import RealmQuery
package import RealmStorage

/// The objects of an export or of another stream, class by class, found while they are written.
///
/// It holds the version as long as it lives. `@unchecked Sendable`: one thread at a time asks for
/// objects, as producers of chunks are never called twice at the same time.
package final class StreamRows: @unchecked Sendable {
    /// The objects of one class that are written.
    package struct Part {
        /// The class whose objects are written.
        let table: Table
        /// The plan for writing objects of the class.
        package let plan: ObjectPlan
        /// The source of the objects, with their order.
        let source: RowSource

        package init(table: Table, plan: ObjectPlan, source: RowSource) {
            self.table = table
            self.plan = plan
            self.source = source
        }
    }

    /// The next object, or the reason why there is none.
    package enum Found {
        /// An object, and the index of its part.
        case row(Row, Int)
        /// Nothing yet; other work gets its turn first.
        case later
        case end
    }

    /// The version that is read, as its reader sees it.
    package let snapshot: Snapshot
    /// The classes that are written, in the order of the schema.
    package let parts: [Part]
    /// Whether all objects of all classes are written.
    package let isWhole: Bool
    /// The limit of work and time per object.
    package let budget: WorkBudget
    /// The time that each chunk may take.
    private let pace: StreamPace
    /// The index of the present part.
    private var part = 0
    /// The index of the next key in the present part. Parts that are read by a cursor do not use it.
    private var position = 0
    /// A leaf of objects, with the rows that are not written yet; nil between two leaves.
    private var open: (leaf: ClusterLeaf, rows: Mask)?

    /// All objects of a version. Embedded objects belong to their owners.
    ///
    /// - Parameters:
    ///   - snapshot: The version to export.
    ///   - budget: The work that may be done, and its deadline.
    ///   - secondsPerChunk: The time limit of one chunk; nil for none.
    /// - Throws: The problem of a damaged file, or of a budget that is used up.
    package init(
        allOf snapshot: Snapshot, budget: WorkBudget = WorkBudget(), secondsPerChunk: Int? = nil
    ) throws(Problem) {
        var parts: [Part] = []
        let embedded = EmbeddedPlans(snapshot)
        for table in snapshot.classes where table.kind != .embedded {
            try Problem.stored(budget.spend(table.columns.count))
            parts.append(
                Part(
                    table: table, plan: try StreamRows.plan(table, snapshot, embedded),
                    source: try StreamRows.source(.all, of: table, Selection(), in: snapshot, budget: budget)))
        }
        self.snapshot = snapshot
        self.parts = parts
        self.budget = budget
        isWhole = true
        pace = StreamPace(budget, secondsPerChunk)
    }

    /// Which objects of a class are written, and in which order.
    package struct Selection {
        /// The values for `$0`, `$1` and so on.
        let arguments: [QueryArgument]
        /// The order; that of the text, or of the object keys, without one.
        let order: ResultOrder
        /// Other names of classes and properties.
        let mapping: KeyPathMapping

        /// Makes a selection; by default all objects in the order of their keys.
        package init(
            arguments: [QueryArgument] = [], order: ResultOrder = .none, mapping: KeyPathMapping = KeyPathMapping()
        ) {
            self.arguments = arguments
            self.order = order
            self.mapping = mapping
        }
    }

    /// The objects of one class that match a query.
    ///
    /// - Parameters:
    ///   - query: The parsed predicate.
    ///   - selection: The arguments and the order.
    ///   - snapshot: The version to export.
    ///   - budget: The work that may be done, and its deadline. A result in another order than that
    ///     of the object keys is computed here, within it.
    ///   - sortedValues: The number of values that may be kept in order to sort.
    ///   - secondsPerChunk: The time limit of one chunk; nil for none.
    /// - Throws: The problem of a query that cannot be bound, or of a budget that is used up.
    package init(
        _ query: Query, of table: Table, _ selection: Selection, in snapshot: Snapshot, budget: WorkBudget = WorkBudget(),
        sortedValues: Int = .max, secondsPerChunk: Int? = nil
    ) throws(Problem) {
        parts = [
            Part(
                table: table, plan: try StreamRows.plan(table, snapshot, EmbeddedPlans(snapshot)),
                source: try StreamRows.source(
                    query, of: table, selection, in: snapshot, budget: budget, sortedValues: sortedValues))
        ]
        self.snapshot = snapshot
        self.budget = budget
        isWhole = false
        pace = StreamPace(budget, secondsPerChunk)
    }

    /// The objects of one class, found before.
    ///
    /// - Parameters:
    ///   - snapshot: The version that they belong to.
    ///   - budget: The limit of work and time per object.
    ///   - secondsPerChunk: The time limit of one chunk.
    package init(_ part: Part, in snapshot: Snapshot, budget: WorkBudget, secondsPerChunk: Int) {
        parts = [part]
        self.snapshot = snapshot
        self.budget = budget
        isWhole = false
        pace = StreamPace(budget, secondsPerChunk)
    }

    /// Compiles how objects of a class are written.
    private static func plan(_ table: Table, _ snapshot: Snapshot, _ embedded: EmbeddedPlans) throws(Problem) -> ObjectPlan {
        do throws(ObjectPlanner.UnknownPath) { return try ObjectPlanner(snapshot, embedded: embedded).plan(table) } catch {
            throw Problem(error)
        }
    }

    /// Prepares the search for objects.
    ///
    /// Results in the order of the object keys are found while they are written; others are found
    /// here, and only their keys are kept.
    private static func source(
        _ query: Query, of table: Table, _ selection: Selection, in snapshot: Snapshot, budget: WorkBudget,
        sortedValues: Int = .max
    ) throws(Problem) -> RowSource {
        do throws(QueryError) {
            let bound = try query.bind(
                to: table, in: snapshot, arguments: selection.arguments, mapping: selection.mapping, order: selection.order,
                check: { budget.continues })
            bound.sortedValueLimit = sortedValues
            if let cursor = try bound.cursor() { return .cursor(cursor) }
            return .keys(try bound.execute(check: { budget.continues }))
        } catch {
            throw Problem(error, in: QueryPartNames(sort: "sort"), budget)
        }
    }

    // MARK: - Objects

    /// Some objects that come next.
    package enum FoundBatch {
        /// Objects of one class.
        case batch(RowBatch)
        /// Nothing yet; other work gets its turn first.
        case later
        case end
    }

    /// Returns the next objects of one class, as far as they lie in one leaf.
    ///
    /// - Parameter limit: The greatest number of objects.
    /// - Throws: An error of storage, or that the search was stopped.
    package func nextBatch(_ limit: Int) throws -> FoundBatch {
        while part < parts.count {
            switch parts[part].source {
            case .cursor(let cursor):
                guard let (leaf, rest) = open, !rest.isEmpty else {
                    if try !opened(cursor) { return .later }
                    continue
                }
                let taken = rest.prefix(limit)
                open?.rows = rest.subtracting(taken)
                return .batch(RowBatch(part: part, rows: .leaf(leaf, taken)))
            case .keys(let keys):
                guard position < keys.count else {
                    endPart()
                    continue
                }
                let taken = keys[position..<min(position + limit, keys.count)]
                position = taken.endIndex
                return .batch(RowBatch(part: part, rows: .keys(taken)))
            }
        }
        return .end
    }

    /// Advances to the next leaf with objects, or to the next class; false when there is nothing yet.
    private func opened(_ cursor: MatchCursor) throws -> Bool {
        switch try pace.next(cursor) {
        case .leaf(let leaf, let matches): open = (leaf, matches)
        case .later: return false
        case .end: endPart()
        }
        return true
    }

    /// Sets the deadline of the next chunk of a response, counted from now.
    package func beginChunk() { pace.beginChunk() }

    /// Returns the next object.
    ///
    /// - Throws: An error of storage, or that the search was stopped.
    package func next() throws -> Found {
        while part < parts.count {
            switch parts[part].source {
            case .cursor(let cursor):
                guard let (leaf, rest) = open, let row = rest.first else {
                    if try !opened(cursor) { return .later }
                    continue
                }
                open?.rows[row] = false
                return .row(Row(leaf: leaf, index: row), part)
            case .keys(let keys):
                guard position < keys.count else {
                    endPart()
                    continue
                }
                position += 1
                if let row = try parts[part].table.find(keys[position - 1]) { return .row(row, part) }
            }
        }
        return .end
    }

    /// Calls `write` with the next objects and their classes until a chunk is full, or other work gets its turn.
    ///
    /// - Returns: Whether there are no more.
    /// - Throws: An error of storage or of `write`, or that the search was stopped.
    func fill(_ buffer: OutputBuffer, _ write: (Row, Part) throws -> Void) throws -> Bool {
        while buffer.count < Streaming.chunkBytes {
            switch try next() {
            case .row(let row, let part): try write(row, parts[part])
            case .later: return false
            case .end: return true
            }
        }
        return false
    }

    /// Advances to the next class.
    private func endPart() {
        part += 1
        position = 0
        open = nil
    }
}
