// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Describes how the rows of a result are found, and which changes can affect them. It belongs to one version of the schema.
struct RowPlan {
    /// The possible effects of a range on the rows.
    enum Effect {
        /// The range does not affect which objects are rows.
        case none
        /// Objects of the class may become rows or cease to be; the order of all others remains.
        case members
        /// The rows or their order may have changed in any way.
        case anything
    }

    let table: TableKey
    /// The collection of objects that the rows are selected from.
    private let source: RowSource
    /// The selection and order of the rows.
    private let query: ObservedQuery
    /// The configured names of linking objects, for the query.
    private let names: BacklinkNames
    /// Limits the time of each evaluation of the query.
    private let clock: EvaluationClock
    /// The columns whose values decide about the rows, by table.
    private var columns: [TableKey: ColumnBits] = [:]
    /// The tables whose inserted and deleted objects decide about the rows, because the query follows or
    /// counts links from them.
    private var origins: Set<TableKey> = []
    /// Whether the query follows mixed values, so that a change of any table may matter.
    private var mayReachAnyTable = false
    /// Whether the query follows links from the class to itself, so that one object decides about others.
    private var isReflexive = false
    /// Whether the rows are in the order of their object keys.
    let isInObjectOrder: Bool
    /// The demand of the query on the values of a row, if no other object of the class decides about it; nil otherwise.
    private var demand: QueryDemand?

    /// Determines what the rows of a query depend on.
    ///
    /// - Parameters:
    ///   - source: The collection of objects to select from.
    ///   - query: The selection and order.
    ///   - names: The configured names of linking objects.
    ///   - clock: Limits the time of evaluations.
    ///   - snapshot: The version whose schema applies.
    /// - Throws: `ObservationError`: `notFound` when the class or property does not exist, `query` when
    ///   the query does not fit the class.
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
                to: table, in: snapshot, arguments: query.arguments, mapping: names.mapping, order: query.order,
                check: clock.check))
        if case .table = source { isInObjectOrder = bound.isInObjectOrder } else { isInObjectOrder = false }
        addDependencies(bound.dependencies, snapshot)
        for argument in query.arguments { addOrigins(of: argument, snapshot) }
        if case .table = source, !isReflexive, !origins.contains(table.key) { demand = bound.demand }
    }

    /// Returns the class of the rows; nil when the source does not exist or contains no objects.
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

    /// Records the columns that decide about the rows, and the tables that links are followed from.
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

    /// Records the class of an argument that names an object by its primary key, because that object may be created later.
    private mutating func addOrigins(of argument: QueryArgument, _ snapshot: Snapshot) {
        switch argument {
        case .object(let className, _):
            if let table = snapshot.classTable(named: className) { origins.insert(table.key) }
        case .list(let elements): for element in elements { addOrigins(of: element, snapshot) }
        default: break
        }
    }

    /// Whether the rows are neither sorted, nor distinct, nor limited.
    private var isPlain: Bool {
        !query.query.hasDescriptors && query.order.sort.isEmpty && query.order.distinct.isEmpty && query.limit == nil
    }

    /// Whether no object can appear twice among the rows.
    var isUnique: Bool {
        if case .table = source { return true }
        return false
    }

    // MARK: - Changes

    /// Returns the changes that may have an effect on the rows, or modify one of them.
    ///
    /// Where the query demands values of a row, an object matters only if it has such values before or after: it is no row
    /// otherwise, and where rows are in the result depends on rows alone.
    ///
    /// - Parameter filter: Decides which changes of objects count as modifications.
    func interest(_ filter: ObservedTarget.Filter) -> TargetInterest {
        guard !mayReachAnyTable else { return .everything }
        var changes: [TableKey: ClassChanges] = [:]
        for (key, bits) in columns { changes[key, default: ClassChanges()].columns = bits }
        for key in origins { changes[key, default: ClassChanges()].hasMembers = true }
        switch source {
        case .table where demand != nil: changes[table] = nil
        case .table: changes[table, default: ClassChanges()].hasMembers = true
        case .collection: break
        case .linkingObjects(_, let origin, let column):
            changes[origin, default: ClassChanges()].hasMembers = true
            changes[origin]?.columns.insert(column)
        }
        return .rows(RowInterest(table: table, demand: demand, changes: changes, root: source.root, filter: filter))
    }

    /// Returns the possible effect of changes on the rows, without evaluating the query.
    ///
    /// - Complexity: Linear in the number of changed tables.
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

    /// Returns whether the collection that the rows are selected from was written.
    private func isSourceWritten(_ log: RangeLog) -> Bool {
        switch source {
        case .table: return false
        case .collection(let property): return log.isWritten(property)
        case .linkingObjects(_, let origin, let column):
            guard let changes = log.tables[origin] else { return false }
            return !changes.inserted.isEmpty || !changes.deleted.isEmpty || changes.columns.contains(column)
        }
    }

    /// Returns the objects that have to be tested again when the effect is `members`, in ascending order.
    func candidates(in log: RangeLog) -> [ObjectKey] {
        guard let changes = log.tables[table] else { return [] }
        var keys = Array(changes.inserted)
        if let columns = columns[table], columns.intersects(changes.columns) {
            for (key, written) in changes.modified where written.intersects(columns) { keys.append(key) }
        }
        return keys.sorted()
    }

    // MARK: - Evaluation

    /// Binds the query to a version; throws `notFound` when the class does not exist.
    func bind(in snapshot: Snapshot) throws(ObservationError) -> BoundQuery {
        guard let table = snapshot.table(table) else { throw .notFound }
        return try evaluated(
            try query.query.bind(
                to: table, in: snapshot, arguments: query.arguments, mapping: names.mapping, order: query.order,
                check: clock.check))
    }

    /// Evaluates the rows in a version; nil when the object that they depend on does not exist.
    ///
    /// - Parameter snapshot: The version.
    /// - Returns: The keys of the rows in their order.
    /// - Throws: `ObservationError` when the query fails or takes too long.
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

    /// Returns the objects that link to an object in the order in which the links are stored, one for every link.
    private static func objects(
        linkingTo row: Row, of target: TableKey, from origin: TableKey, by column: ColumnKey, in snapshot: Snapshot
    ) throws(StorageError) -> [ObjectKey] {
        let records = snapshot.table(target)?.backlinks.first {
            $0.targetTable == origin && $0.oppositeColumn?.leafIndex == column.leafIndex
        }
        guard let records else { return [] }
        return try row.leaf.backlinks(records, row: row.index).keys().filter { $0.rawValue >= 0 }
    }

    /// Selects and orders the rows among given objects.
    private func select(from keys: [ObjectKey], _ snapshot: Snapshot) throws(ObservationError) -> [ObjectKey] {
        let limit = query.limit ?? .max
        if isPlain, columns.isEmpty, origins.isEmpty, query.query.text == Query.all.text { return keys }
        let bound = try bind(in: snapshot)
        return try evaluated(try bound.execute(over: keys, check: clock.check)).prefix(limit).map { keys[$0] }
    }
}
