// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmStorage

/// Writes objects as lines of CSV (RFC 4180): links as keys, collections, embedded objects and Mixed as JSON text.
///
/// Objects of a class without primary key have theirs in a first column `$key`, unless metadata is left out.
package final class CSVWriter {
    private let plan: ObjectPlan
    private let snapshot: Snapshot
    private let encoder: ObjectEncoder
    private let budget: WorkBudget
    private let line = CSVLine()
    private let showsKey: Bool

    /// A writer of the columns that `plan` shows.
    package init(
        _ plan: ObjectPlan, _ snapshot: Snapshot, _ representation: Representation, budget: WorkBudget = WorkBudget()
    ) {
        self.plan = plan
        self.snapshot = snapshot
        self.budget = budget
        encoder = ObjectEncoder(snapshot, representation, budget)
        showsKey = representation.includesMeta && plan.table.primaryKey == nil && plan.table.kind != .embedded
    }

    /// For spreadsheets: texts that begin as formulas do get an apostrophe in front.
    func guardFormulas() { line.guardsFormulas = true }

    /// The names of the columns, those of the caller's first.
    package func writeHeader(leading: [String] = [], to buffer: OutputBuffer) {
        for name in leading { line.add(name, to: buffer) }
        if showsKey { line.add("$key", to: buffer) }
        for member in plan.members { line.add(member.name, to: buffer) }
        line.end(in: buffer)
    }

    /// A line with the caller's cells first. All cells of an object that is not there are empty.
    package func write(_ row: Row?, leading: [String] = [], to buffer: OutputBuffer) throws(StorageError) {
        line.begin()
        for text in leading { line.add(text, to: buffer) }
        if showsKey { line.add(row.map { KeyText.text($0.key) }, to: buffer) }
        try budget.spend(plan.members.count)
        for member in plan.members {
            try budget.requireRoom(for: buffer.count)
            try line.add(to: buffer, isNumber: member.isNumber) { cell throws(StorageError) in
                guard let row else { return false }
                return try fill(cell, member, row)
            }
        }
        line.end(in: buffer)
        try budget.requireRoom(for: buffer.count)
    }

    /// Puts the text of a member into `cell`; false for null.
    private func fill(_ cell: OutputBuffer, _ member: ObjectPlan.Member, _ row: Row) throws(StorageError) -> Bool {
        guard case .single(let column) = member.source else {
            try fillWithJSON(cell, member, row)
            return true
        }
        let value = try row.value(column)
        switch value {
        case .null: return false
        case .string(let text) where column.type == .string: cell.append(text)
        case .link(let tableKey, let key) where column.type == .link && !member.isShownWhole:
            guard let table = snapshot.table(tableKey), let target = try table.find(key) else { return false }
            cell.append(try KeyText.text(of: target, in: table))
        default: try fillWithJSON(cell, member, row)
        }
        return true
    }

    /// The JSON of the member; strings lose their quotes, as the cell is one already.
    private func fillWithJSON(_ cell: OutputBuffer, _ member: ObjectPlan.Member, _ row: Row) throws(StorageError) {
        var writer = JSONWriter(cell)
        try encoder.writeValue(of: member, row, to: &writer)
        guard case .single(let column) = member.source, column.type != .mixed else { return }
        cell.removeQuotes()
    }
}

extension ObjectPlan.Member {
    fileprivate var isNumber: Bool {
        guard case .single(let column) = source else { return false }
        switch column.type {
        case .int, .float, .double, .decimal: return true
        default: return false
        }
    }

    /// Embedded and expanded objects are shown whole, other links as stubs.
    fileprivate var isShownWhole: Bool {
        switch links {
        case .embedded, .expanded: return true
        case .none, .stubs: return false
        }
    }
}
