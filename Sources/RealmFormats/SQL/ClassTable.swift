// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The table with a row for each object of a class.
final class ClassTable: VirtualTable {
    private let made: RelationalSchema.Class
    private let tables: LiveTables
    /// The properties of the columns. The first column has the key, which is a property only where it is the primary key.
    private let columns: [Column?]
    /// The plans that were made, each once; their numbers are positions.
    private var plans: [Plan] = []
    private var numbers: [Plan: Int] = [:]

    /// The way of finding objects.
    struct Plan: Hashable {
        /// The use of a constraint.
        struct Use: Hashable {
            enum Kind: Hashable { case key, link, compare, limit, offset }
            let kind: Kind
            let column: Int
            let comparison: VirtualRequest.Comparison
        }

        /// The constraints whose values a cursor gets, in their order.
        var uses: [Use] = []
        /// The column whose order the rows have; nil for any.
        var order: Int?
        var isAscending = true
    }

    init(_ made: RelationalSchema.Class, in tables: LiveTables) {
        self.made = made
        self.tables = tables
        var columns: [Column?] = [nil]
        if case .primary(let column) = made.key { columns = [column] }
        for member in made.members {
            if case .column = member.place { columns.append(member.column) }
        }
        self.columns = columns
        super.init(named: tables.schema.tables[made.position].name, failures: tables.failures)
    }

    override var declaration: String { tables.declaration(made.position) }

    override func open() -> VirtualCursor { Cursor(self) }

    // MARK: - Plans

    override func plan(_ request: VirtualRequest) throws -> VirtualPlan {
        try tables.budget.check()
        var plan = Plan()
        var result = estimate(request, &plan)
        order(request, &plan, &result)
        if let known = numbers[plan] {
            result.number = known
        } else {
            result.number = plans.count
            numbers[plan] = plans.count
            plans.append(plan)
        }
        return result
    }

    /// Chooses the constraints that are used, and estimates what they leave.
    private func estimate(_ request: VirtualRequest, _ plan: inout Plan) -> VirtualPlan {
        let count = Double(tables.estimatedCount(of: made.table))
        var result = VirtualPlan(text: "all objects", cost: count + 10, rows: Int64(count))
        let usable = request.constraints.enumerated().filter {
            $1.isUsable && $1.column < columns.count && (!$1.isList || hasNumbers($1.column))
        }
        if let (position, _) = usable.first(where: { $1.comparison == .equal && $1.column <= 0 && $1.comparison == .equal }) {
            plan.uses = [.init(kind: .key, column: 0, comparison: .equal)]
            return VirtualPlan(uses: [position], text: "by key: \(columnName(0)) == ?", cost: 4, rows: 1, isUnique: true)
        }
        for (position, constraint) in usable where constraint.comparison == .equal {
            guard constraint.column > 0, let column = columns[constraint.column], column.type == .link,
                backlinks(of: column) != nil
            else { continue }
            plan.uses = [.init(kind: .link, column: constraint.column, comparison: .equal)]
            let rows = max(1, (count / 1000).rounded())
            return VirtualPlan(
                uses: [position], text: "by links: \(columnName(constraint.column)) == ?", cost: 8 + rows, rows: Int64(rows))
        }
        var texts: [String] = []
        for (position, constraint) in usable where constraint.column >= 0 {
            guard let column = columns[constraint.column], ColumnBound.isUsable(constraint.comparison, column) else { continue }
            plan.uses.append(.init(kind: .compare, column: constraint.column, comparison: constraint.comparison))
            result.uses.append(position)
            let isIndexed = constraint.comparison == .equal && column.declaredIndex == .general
            texts.append("\(columnName(constraint.column)) \(constraint.comparison.sign) ?\(isIndexed ? " by index" : "")")
            let part = constraint.comparison == .equal ? 0.01 : 0.25
            result.rows = max(1, Int64(Double(result.rows) * part))
            result.cost = min(result.cost, isIndexed ? 20 + Double(result.rows) : 10 + count / 4)
        }
        if !texts.isEmpty { result.text = "search: " + texts.joined(separator: " AND ") }
        limit(request, &plan, &result)
        return result
    }

    /// Whether a column has numbers alone.
    private func hasNumbers(_ index: Int) -> Bool {
        if index <= 0 { return made.table.primaryKey.map { $0.type == .int } ?? true }
        guard let column = columns[index], column.collection == nil else { return false }
        return [.int, .bool, .float, .double].contains(column.type)
    }

    /// Uses the limit of a statement that has nothing else for the table to find.
    private func limit(_ request: VirtualRequest, _ plan: inout Plan, _ result: inout VirtualPlan) {
        let isOnly = request.constraints.allSatisfy { [.limit, .offset].contains($0.comparison) && $0.isUsable }
        guard isOnly, request.constraints.contains(where: { $0.comparison == .limit }) else { return }
        for (position, constraint) in request.constraints.enumerated() {
            plan.uses.append(.init(kind: constraint.comparison == .limit ? .limit : .offset, column: 0, comparison: .other))
            result.uses.append(position)
        }
    }

    /// Lets the search sort, where the order of the values is that of SQLite.
    private func order(_ request: VirtualRequest, _ plan: inout Plan, _ result: inout VirtualPlan) {
        if result.isUnique || request.order.isEmpty { return result.isOrdered = true }
        guard request.order.count == 1, request.order[0].column >= -1, request.order[0].column < columns.count,
            !plan.uses.contains(where: { $0.kind == .link })
        else { return }
        let term = request.order[0]
        if term.column <= 0, columns[0] == nil, case .keyText = made.key { return }
        if term.column <= 0, columns[0] == nil {
            result.isOrdered = !term.isDescending
            if result.isOrdered { result.text += ", in order of \(columnName(0))" }
            return
        }
        guard let column = columns[max(term.column, 0)], column.type == .int || column.type == .bool else { return }
        plan.order = max(term.column, 0)
        plan.isAscending = !term.isDescending
        result.isOrdered = true
        result.text += ", sorted by \(columnName(max(term.column, 0)))\(term.isDescending ? " descending" : "")"
    }

    private func columnName(_ column: Int) -> String { tables.schema.tables[made.position].columns[max(column, 0)].name }

    /// Returns the incoming links of the class that a link leads to, with that class; nil where they are not visible.
    private func backlinks(of column: Column) -> (backlinks: Column, target: RelationalSchema.Class)? {
        guard let target = tables.target(of: column) else { return nil }
        let found = target.table.backlinks.first {
            $0.targetTable == made.table.key && $0.oppositeColumn?.leafIndex == column.leafIndex
        }
        return found.map { ($0, target) }
    }

    // MARK: - Rows

    private final class Cursor: VirtualCursor {
        private let table: ClassTable
        private let rows: ClassRows
        private let cells: RelationalCells
        private let lookup: KeyLookup
        /// Finds the targets of links by their keys, by the columns of the links.
        private var targets: [Int: (lookup: KeyLookup, backlinks: Column)] = [:]

        init(_ table: ClassTable) {
            self.table = table
            rows = ClassRows(of: table.made, in: table.tables)
            cells = table.tables.cells
            lookup = KeyLookup(table.made, in: table.tables)
            super.init(table.failures)
        }

        override func begin(_ number: Int, _ values: [SQLiteStatement.Found]) throws -> Bool {
            guard table.plans.indices.contains(number) else { return false }
            let plan = table.plans[number]
            if let use = plan.uses.first, use.kind == .key {
                switch try lookup.find(values[0]) {
                case .row(let row): rows.begin(with: row)
                case .none: rows.beginNone()
                case .unknown: try rows.begin([])
                }
            } else if let use = plan.uses.first, use.kind == .link {
                try beginLinks(use.column, values[0])
            } else {
                try search(plan, values)
            }
            return try rows.next()
        }

        /// Begins with the objects that link to the one with a key.
        private func beginLinks(_ column: Int, _ key: SQLiteStatement.Found) throws {
            if targets[column] == nil, let property = table.columns[column], let found = table.backlinks(of: property) {
                targets[column] = (KeyLookup(found.target, in: table.tables), found.backlinks)
            }
            guard let target = targets[column] else { return try rows.begin([]) }
            switch try target.lookup.find(key) {
            case .row(let row): rows.begin(keys: try row.leaf.backlinks(target.backlinks, row: row.index).keys())
            case .none: rows.beginNone()
            case .unknown: try rows.begin([])
            }
        }

        private func search(_ plan: Plan, _ values: [SQLiteStatement.Found]) throws {
            var terms: [ColumnTerm] = []
            var limit: Int?
            for (use, value) in zip(plan.uses, values) {
                if use.kind == .limit || use.kind == .offset {
                    // A negative limit is none, and a negative offset is 0.
                    guard case .int(let number) = value, number >= 0 || use.kind == .offset else {
                        return try sort([], plan, nil)
                    }
                    let sum = (limit ?? 0).addingReportingOverflow(Int(max(number, 0)))
                    limit = sum.overflow ? Int.max : sum.partialValue
                    continue
                }
                guard let column = table.columns[use.column] else { continue }
                switch ColumnBound.meaning(use.comparison, column, value) {
                case .term(let term): terms.append(term)
                case .never: return rows.beginNone()
                case .unused: break
                }
            }
            try sort(terms, plan, limit)
        }

        private func sort(_ terms: [ColumnTerm], _ plan: Plan, _ limit: Int?) throws {
            let order = plan.order.flatMap { table.columns[$0] }.map { (column: $0, isAscending: plan.isAscending) }
            try rows.begin(terms, order: order, limit: order == nil ? nil : limit)
        }

        override func next() throws -> Bool { try rows.next() }

        override func write(_ column: Int, to result: SQLiteResult) throws {
            guard let row = rows.row else { return result.null() }
            guard let property = table.columns[column] else { return result.write(try cells.key(of: row, table.made)) }
            switch property.type {
            case .int, .bool, .double: result.write(try row.value(property))
            default: result.write(try cells.cell(try row.value(property), property))
            }
        }

        override var row: Int64 {
            guard let row = rows.row else { return 0 }
            if case .primary(let column) = table.made.key, case .int(let number)? = try? row.value(column) { return number }
            return row.key.rawValue
        }
    }
}

extension VirtualRequest.Comparison {
    /// The comparison as plans show it.
    var sign: String {
        switch self {
        case .equal: return "=="
        case .less: return "<"
        case .lessOrEqual: return "<="
        case .greater: return ">"
        case .greaterOrEqual: return ">="
        case .like: return "LIKE"
        case .limit, .offset, .other: return "?"
        }
    }
}
