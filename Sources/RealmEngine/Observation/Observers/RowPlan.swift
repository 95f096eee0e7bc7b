// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// How rows are found, and what can change which they are.
struct RowPlan {
    /// What a range means for the rows.
    enum Effect {
        case none
        /// Objects of their class may come, go, match or not; nothing else matters.
        case members
        case anything
    }

    /// The class of the rows.
    let table: TableKey
    /// What the rows come from.
    private let source: RowSource
    /// Their selection and order.
    private let query: ObservedQuery
    /// Names of linking objects, for the query.
    private let names: BacklinkNames
    /// Bounds each evaluation.
    private let clock: EvaluationClock
    /// The columns that decide, by table.
    private var columns: [TableKey: ColumnBits] = [:]
    /// Tables whose new and deleted objects matter: those that incoming links are counted or followed from.
    private var origins: Set<TableKey> = []
    /// Whether values of any type are followed, so that every table matters.
    private var mayReachAnyTable = false
    /// Whether links lead from the class back to it, so that one object decides about others.
    private var isReflexive = false
    /// Whether the rows are in the order of their keys.
    let isInObjectOrder: Bool

    /// Finds out what the rows of a query depend on. Throws `notFound` when the class is gone, `query` when it does not fit.
    init(
        _ source: RowSource, _ query: ObservedQuery, names: BacklinkNames, clock: EvaluationClock, at snapshot: Snapshot
    ) throws(ObservationError) {
        self.source = source
        self.query = query
        self.names = names
        self.clock = clock
        guard let table = RowPlan.table(of: source, in: snapshot) else { throw .notFound }
        self.table = table.key
        let bound = try evaluated(
            try query.query.bind(
                to: table, in: snapshot, arguments: query.arguments, mapping: names.mapping, order: query.order))
        if case .table = source { isInObjectOrder = bound.isInObjectOrder } else { isInObjectOrder = false }
        addDependencies(bound.dependencies, snapshot)
        for argument in query.arguments { addOrigins(of: argument, snapshot) }
    }

    /// The class of the rows; nil when the source is not there or holds no objects.
    private static func table(of source: RowSource, in snapshot: Snapshot) -> Table? {
        switch source {
        case .table(let key): return snapshot.table(key)
        case .linkingObjects(let target, let origin, let column):
            guard snapshot.table(target.table) != nil, let table = snapshot.table(origin), table.column(column) != nil
            else { return nil }
            return table
        case .collection(let property):
            let column = snapshot.table(property.object.table)?.column(property.column)
            guard let column, column.collection != nil, column.type == .link else { return nil }
            return column.targetTable.flatMap { snapshot.table($0) }
        }
    }

    /// Notes the columns that decide, and the tables that links are followed from.
    private mutating func addDependencies(_ dependencies: QueryDependencies, _ snapshot: Snapshot) {
        mayReachAnyTable = dependencies.mayReachAnyTable
        for place in dependencies.columns {
            guard let column = snapshot.table(place.table)?.column(ColumnKey(Int64(place.leafIndex))) else { continue }
            if column.type == .backlink {
                if let origin = column.targetTable { origins.insert(origin) }
            } else {
                columns[place.table, default: ColumnBits()].insert(column.key)
            }
            if column.targetTable == table { isReflexive = true }
        }
    }

    /// An object that is named by its primary key may come into being.
    private mutating func addOrigins(of argument: QueryArgument, _ snapshot: Snapshot) {
        switch argument {
        case .object(let className, _):
            if let table = snapshot.classTable(named: className) { origins.insert(table.key) }
        case .list(let elements): for element in elements { addOrigins(of: element, snapshot) }
        default: break
        }
    }

    /// Neither sorted, nor distinct, nor limited.
    private var isPlain: Bool {
        !query.query.hasDescriptors && query.order.sort.isEmpty && query.order.distinct.isEmpty && query.limit == nil
    }

    /// Whether no object can be twice among the rows.
    var isUnique: Bool {
        if case .table = source { return true }
        return false
    }

    // MARK: - Changes

    /// What the changes of a range can mean for the rows.
    func effect(of log: RangeLog) -> Effect {
        if mayReachAnyTable, !log.tables.isEmpty { return .anything }
        if isSourceWritten(log) { return .anything }
        var isOwnTouched = false
        for (key, changes) in log.tables {
            let isWritten = columns[key].map { $0.intersects(changes.columns) } ?? false
            let hasOthers = !changes.inserted.isEmpty || !changes.deleted.isEmpty
            if key == table, case .table = source {
                isOwnTouched = isOwnTouched || isWritten || hasOthers
                if hasOthers, origins.contains(key) { return .anything }
            } else if isWritten || hasOthers && origins.contains(key) {
                return .anything
            }
        }
        guard isOwnTouched else { return .none }
        return isPlain && isInObjectOrder && !isReflexive ? .members : .anything
    }

    /// Whether the collection that the rows come from was written.
    private func isSourceWritten(_ log: RangeLog) -> Bool {
        switch source {
        case .table: return false
        case .collection(let property): return log.isWritten(property)
        case .linkingObjects(_, let origin, let column):
            guard let changes = log.tables[origin] else { return false }
            return !changes.inserted.isEmpty || !changes.deleted.isEmpty || changes.columns.contains(column)
        }
    }

    /// The objects that have to be tested again for being among the rows, where the effect is on members.
    func candidates(in log: RangeLog) -> [ObjectKey] {
        guard let changes = log.tables[table] else { return [] }
        var keys = Array(changes.inserted)
        if let columns = columns[table], columns.intersects(changes.columns) {
            for (key, written) in changes.modified where written.intersects(columns) { keys.append(key) }
        }
        return keys.sorted()
    }

    // MARK: - Evaluation

    /// The query over a version; throws `notFound` when the class is gone.
    func bind(in snapshot: Snapshot) throws(ObservationError) -> BoundQuery {
        guard let table = snapshot.table(table) else { throw .notFound }
        return try evaluated(
            try query.query.bind(
                to: table, in: snapshot, arguments: query.arguments, mapping: names.mapping, order: query.order))
    }

    /// The rows of a version; nil when their root is gone.
    func evaluate(in snapshot: Snapshot) throws(ObservationError) -> [ObjectKey]? {
        switch source {
        case .table:
            let bound = try bind(in: snapshot)
            return try evaluated(try bound.execute(ResultWindow(limit: query.limit), check: clock.check))
        case .collection(let property):
            guard let (row, column) = try observed(try property.owner(in: snapshot)) else { return nil }
            return try select(from: try observed(try row.links(column, in: snapshot)), snapshot)
        case .linkingObjects(let target, let origin, let column):
            guard let row = try observed(try snapshot.table(target.table)?.find(target.key)) else { return nil }
            let keys = try observed(try RowPlan.objects(linkingTo: row, of: target.table, from: origin, by: column, in: snapshot))
            return try select(from: keys, snapshot)
        }
    }

    /// As they are recorded, an object for every link.
    private static func objects(
        linkingTo row: Row, of target: TableKey, from origin: TableKey, by column: ColumnKey, in snapshot: Snapshot
    ) throws(StorageError) -> [ObjectKey] {
        let records = snapshot.table(target)?.backlinks.first {
            $0.targetTable == origin && $0.oppositeColumn?.leafIndex == column.leafIndex
        }
        guard let records else { return [] }
        return try row.leaf.backlinks(records, row: row.index).keys().filter { $0.rawValue >= 0 }
    }

    /// The rows among given objects.
    private func select(from keys: [ObjectKey], _ snapshot: Snapshot) throws(ObservationError) -> [ObjectKey] {
        let limit = query.limit ?? .max
        if isPlain, columns.isEmpty, origins.isEmpty, query.query.text == Query.all.text { return keys }
        let bound = try bind(in: snapshot)
        return try evaluated(try bound.execute(over: keys, check: clock.check)).prefix(limit).map { keys[$0] }
    }
}
