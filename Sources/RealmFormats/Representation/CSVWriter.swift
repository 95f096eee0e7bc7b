// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
package import RealmStorage

/// Writes objects as lines of CSV (RFC 4180), one column for each member of a plan.
///
/// Links are the keys of their targets; collections, embedded objects and Mixed are JSON text.
/// Objects of a class without primary key have their key in a first column `$key`, unless metadata
/// is left out. One writer serves one response, on one thread at a time.
package final class CSVWriter {
    /// The members of the objects that become columns, in order.
    private let plan: ObjectPlan
    /// The version of the realm that the objects are read from.
    private let snapshot: Snapshot
    /// Writes cells that contain JSON: collections, embedded objects and values of Mixed.
    private let encoder: ObjectEncoder
    /// The work and the length that the response may have.
    private let budget: WorkBudget
    /// Writes the cells of the current line, with commas and quotation marks.
    private let line = CSVLine()
    /// Whether the first column is `$key` with the object key, for a class without primary key.
    private let showsKey: Bool

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - plan: The members to show, as columns.
    ///   - snapshot: The version that is read.
    ///   - representation: The representation of values that are JSON.
    ///   - budget: The work and the length that the response may have.
    package init(
        _ plan: ObjectPlan, _ snapshot: Snapshot, _ representation: Representation, budget: WorkBudget = WorkBudget()
    ) {
        self.plan = plan
        self.snapshot = snapshot
        self.budget = budget
        encoder = ObjectEncoder(snapshot, representation, budget)
        showsKey = representation.includesMeta && plan.table.primaryKey == nil && plan.table.kind != .embedded
    }

    /// Whether the text begins with a byte order mark, by which Excel knows UTF-8.
    private var beginsWithMark = false

    /// Makes the writer put an apostrophe before texts that a spreadsheet would evaluate as formulas, and
    /// begin with a byte order mark (`csv=excel`).
    ///
    /// - Parameter separator: The separator of two cells.
    func fitSpreadsheets(separator: UInt8) {
        line.guardsFormulas = true
        line.separator = separator
        beginsWithMark = true
    }

    /// Writes the line with the names of the columns.
    ///
    /// - Parameters:
    ///   - leading: Names of columns that the caller adds before those of the plan.
    ///   - buffer: The buffer that the line is appended to.
    package func writeHeader(leading: [String] = [], to buffer: OutputBuffer) {
        if beginsWithMark { buffer.append([0xef, 0xbb, 0xbf]) }
        for name in leading { line.add(name, to: buffer) }
        if showsKey { line.add("$key", to: buffer) }
        for member in plan.members { line.add(member.name, to: buffer) }
        line.end(in: buffer)
    }

    /// Writes the line of one object.
    ///
    /// - Parameters:
    ///   - row: The object; nil for one that does not exist, whose cells are empty.
    ///   - leading: The cells of the caller's columns.
    ///   - buffer: The buffer that the line is appended to.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
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

    /// Appends the text of a member to a cell.
    ///
    /// - Returns: False for null, which is an empty cell.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
    private func fill(_ cell: OutputBuffer, _ member: ObjectPlan.Member, _ row: Row) throws(StorageError) -> Bool {
        guard case .single(let column) = member.source else {
            try fillWithJSON(cell, member, row)
            return true
        }
        let value = try row.value(column)
        try budget.meet(byteCount: value.byteCount)
        switch value {
        case .null: return false
        case .string(let text) where column.type == .string: cell.append(text)
        case .link(let tableKey, let key) where column.type == .link && !member.isShownWhole:
            guard !snapshot.hides(tableKey) else {
                try fillWithJSON(cell, member, row)
                return true
            }
            guard let table = snapshot.table(tableKey), let target = try table.find(key) else { return false }
            cell.append(try KeyText.text(of: target, in: table))
        default: try fillWithJSON(cell, member, row)
        }
        return true
    }

    /// Appends the JSON of a member to a cell. Except for Mixed, a JSON string loses its quotation
    /// marks, as a cell is a text already.
    private func fillWithJSON(_ cell: OutputBuffer, _ member: ObjectPlan.Member, _ row: Row) throws(StorageError) {
        var writer = JSONWriter(cell)
        try encoder.writeValue(of: member, row, to: &writer)
        guard case .single(let column) = member.source, column.type != .mixed else { return }
        cell.removeQuotes()
    }
}

extension ObjectPlan.Member {
    /// Whether the member is a single number, whose sign does not make it a formula.
    fileprivate var isNumber: Bool {
        if case .distance = source { return true }
        guard case .single(let column) = source else { return false }
        switch column.type {
        case .int, .float, .double, .decimal: return true
        default: return false
        }
    }

    /// Whether the member shows the objects that it links to: embedded and expanded ones. Other links are shown as keys.
    fileprivate var isShownWhole: Bool {
        switch links {
        case .embedded, .expanded: return true
        case .none, .stubs: return false
        }
    }
}
