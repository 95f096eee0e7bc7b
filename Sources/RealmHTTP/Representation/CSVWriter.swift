// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmStorage

/// Writes objects as lines of CSV (RFC 4180): links as keys, collections, embedded objects and Mixed as JSON text.
///
/// Null is an empty cell, the empty string a quoted one.
package final class CSVWriter {
    private let plan: ObjectPlan
    private let snapshot: Snapshot
    private let encoder: ObjectEncoder
    private let cell = OutputBuffer(capacity: 256)

    package init(_ plan: ObjectPlan, _ snapshot: Snapshot, _ representation: Representation) {
        self.plan = plan
        self.snapshot = snapshot
        encoder = ObjectEncoder(snapshot, representation)
    }

    /// The names of the columns.
    package func writeHeader(to buffer: OutputBuffer) {
        for (index, member) in plan.members.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            cell.removeAll()
            cell.append(member.name)
            writeCell(to: buffer)
        }
        buffer.append("\r\n" as StaticString)
    }

    package func write(_ row: Row, to buffer: OutputBuffer) throws(StorageError) {
        for (index, member) in plan.members.enumerated() {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            cell.removeAll()
            guard try fillCell(member, row) else { continue }
            writeCell(to: buffer)
        }
        buffer.append("\r\n" as StaticString)
    }

    /// Puts the text of a member into `cell`; false for null.
    private func fillCell(_ member: ObjectPlan.Member, _ row: Row) throws(StorageError) -> Bool {
        guard case .single(let column) = member.source else {
            try fillWithJSON(member, row)
            return true
        }
        let value = try row.value(column)
        switch value {
        case .null: return false
        case .string(let text) where column.type == .string: cell.append(text)
        case .link(let tableKey, let key) where column.type == .link && !member.isShownWhole:
            guard let table = snapshot.table(tableKey), let target = try table.find(key) else { return false }
            cell.append(try KeyText.text(of: target, in: table))
        default: try fillWithJSON(member, row)
        }
        return true
    }

    /// The JSON of the member; strings lose their quotes, as the cell is one already.
    private func fillWithJSON(_ member: ObjectPlan.Member, _ row: Row) throws(StorageError) {
        var writer = JSONWriter(cell)
        try encoder.writeValue(of: member, row, to: &writer)
        guard case .single(let column) = member.source, column.type != .mixed, cell.count >= 2 else { return }
        let text = cell.array
        guard text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return }
        // Only dates, numbers in text, ids and base64 come here: nothing in them is escaped.
        cell.removeAll()
        cell.append(text[1..<text.count - 1])
    }

    private func writeCell(to buffer: OutputBuffer) {
        let needsQuotes = cell.withBytes { bytes in
            bytes.isEmpty || bytes.contains { $0 == 0x22 || $0 == 0x2c || $0 == 0x0a || $0 == 0x0d }
        }
        guard needsQuotes else { return buffer.append(cell) }
        buffer.append(UInt8(ascii: "\""))
        cell.withBytes { bytes in
            for byte in bytes {
                if byte == UInt8(ascii: "\"") { buffer.append(byte) }
                buffer.append(byte)
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }
}

extension ObjectPlan.Member {
    /// Embedded and expanded objects are shown whole, other links as stubs.
    fileprivate var isShownWhole: Bool {
        switch links {
        case .embedded, .expanded: return true
        case .none, .stubs: return false
        }
    }
}
