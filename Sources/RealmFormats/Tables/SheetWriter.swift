// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Writes the objects of one class into a sheet of a workbook, a row for each.
///
/// Links are keys, embedded objects, collections and Mixed are JSON text. Values that a number of Excel cannot hold exactly are
/// text.
final class SheetWriter {
    /// The workbook, whose present sheet is that of the class.
    private let book: Workbook
    /// The plan of the columns.
    private let plan: ObjectPlan
    /// The version that is read.
    private let snapshot: Snapshot
    /// Writes values that become JSON.
    private let encoder: ObjectEncoder
    /// Whether the first column has the key of the object, for a class without primary key.
    private let showsKey: Bool
    /// The row that is written next.
    private var row = 1
    /// The number of bytes of the texts of the last row, which the library keeps until the next one.
    private(set) var rowBytes = 0
    /// Whether a text was cut.
    private(set) var hasCut = false

    /// Excel shows 15 digits of a number.
    private static let exactIntegers: ClosedRange<Int64> = -999_999_999_999_999...999_999_999_999_999
    /// The seconds from 1900 to 9999 in UTC that are dates of Excel; before March 1900 it counts a day that was not.
    private static let dates: ClosedRange<Int64> = -2_203_891_200...253_402_300_799
    /// The seconds from the end of 1899, where Excel begins to count, to 1970.
    private static let epoch = 2_209_161_600.0

    /// Adds the sheet of a class.
    ///
    /// - Parameters:
    ///   - part: The class.
    ///   - snapshot: The version that is read.
    ///   - budget: The work that may be done.
    /// - Throws: `Workbook.Failure`.
    init(
        _ plan: ObjectPlan, named name: String, in book: Workbook, _ snapshot: Snapshot, budget: WorkBudget
    ) throws(Workbook.Failure) {
        self.plan = plan
        self.book = book
        self.snapshot = snapshot
        encoder = ObjectEncoder(snapshot, Representation(), budget)
        showsKey = plan.table.primaryKey == nil
        let columns = (showsKey ? ["$key"] : []) + plan.members.map(\.name)
        guard columns.count <= Workbook.columnLimit else { throw .tooLarge }
        try book.beginSheet(name, columns: columns.map(SheetWriter.clean))
    }

    /// Writes one object.
    ///
    /// - Throws: An error of storage, or `Workbook.Failure`.
    func write(_ object: Row) throws {
        guard row < Workbook.rowLimit else { throw Workbook.Failure.tooLarge }
        try encoder.budget.spend(plan.members.count + 1)
        rowBytes = 0
        var column = 0
        if showsKey {
            try book.write(KeyText.text(object.key), row, 0)
            column = 1
        }
        for member in plan.members {
            try write(member, of: object, column)
            column += 1
        }
        row += 1
    }

    /// Writes one cell.
    private func write(_ member: ObjectPlan.Member, of object: Row, _ column: Int) throws {
        guard case .single(let stored) = member.source else { return try writeJSON(member, object, column) }
        let value = try object.value(stored)
        switch value {
        case .null: return
        case .bool(let flag): try book.write(flag, row, column)
        case .int(let number):
            if SheetWriter.exactIntegers.contains(number) {
                try book.write(Double(number), row, column)
            } else {
                try book.write(String(number), row, column)
            }
        case .float(let number): try write(Double(String(number)) ?? Double(number), column)
        case .double(let number): try write(number, column)
        case .string(let text) where stored.type == .string: try write(text, column)
        case .timestamp(let date) where stored.type == .timestamp: try write(date, column)
        case .decimal(let number) where stored.type == .decimal: try write(decimal: number.description, column)
        case .objectID(let id) where stored.type == .objectID: try book.write(id.description, row, column)
        case .uuid(let id) where stored.type == .uuid: try book.write(id.description, row, column)
        case .link(let tableKey, let key) where stored.type == .link:
            guard let table = snapshot.table(tableKey), let target = try table.find(key) else { return }
            if table.kind == .embedded { return try writeJSON(member, object, column) }
            try write(try KeyText.text(of: target, in: table), column)
        default: try writeJSON(member, object, column)
        }
    }

    /// The numbers that Excel has, apart from zero, without their signs. Greater ones it refuses, smaller ones it reads as zero.
    private static let magnitudes = Double.leastNormalMagnitude...9.999_999_999_999_99e307

    /// Writes a number; as text where Excel has no such number.
    private func write(_ number: Double, _ column: Int) throws(Workbook.Failure) {
        if number.isZero || SheetWriter.magnitudes.contains(number.magnitude) {
            try book.write(number, row, column)
        } else if number.isFinite {
            try book.write(number.description, row, column)
        } else {
            try book.write(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity", row, column)
        }
    }

    /// Writes a decimal number: as a number if Excel shows all of its digits.
    private func write(decimal text: String, _ column: Int) throws(Workbook.Failure) {
        let digits = text.utf8.lazy.filter { $0 >= 0x30 && $0 <= 0x39 }.count
        if digits <= 15, !text.contains("E"), !text.contains("N"), !text.contains("I"), let number = Double(text) {
            try write(number, column)
        } else {
            try book.write(text, row, column)
        }
    }

    /// Writes a date: as one of Excel, to the millisecond, or as text where Excel has none.
    private func write(_ date: Timestamp, _ column: Int) throws {
        guard SheetWriter.dates.contains(date.seconds) else { return try write(date.text, column) }
        let seconds = Double(date.seconds) + SheetWriter.epoch + Double(date.nanoseconds / 1_000_000) / 1000
        try book.write(days: seconds / 86_400, row, column)
    }

    /// Writes the JSON of a member; a JSON string without its quotation marks, unless it is of Mixed.
    private func writeJSON(_ member: ObjectPlan.Member, _ object: Row, _ column: Int) throws {
        let buffer = OutputBuffer()
        var writer = JSONWriter(buffer)
        try encoder.writeValue(of: member, object, to: &writer)
        if case .single(let stored) = member.source, stored.type != .mixed { buffer.removeQuotes() }
        // Bytes beyond a piece are ignored, except for the fact that there are more.
        buffer.truncate(to: SheetWriter.longestBytes + 4)
        let text = buffer.array
        if text != Array("null".utf8) { try ByteView.withBytes(of: text) { view in try write(view, column) } }
    }

    /// A length in bytes of texts that have more code units than a cell takes: three bytes, or fewer that are not UTF-8, make at least
    /// one.
    private static let longestBytes = 4 * Workbook.textLimit

    /// Writes a text, truncated to the limit of a cell.
    private func write(_ text: String, _ column: Int) throws {
        try ByteView.withBytes(of: Array(text.utf8)) { view in try write(view, column) }
    }

    /// Writes a text as the other function does. Of a long one only the beginning is read.
    private func write(_ text: ByteView, _ column: Int) throws {
        let beginning = text.piece(from: 0, byteCount: SheetWriter.longestBytes)
        try encoder.budget.spend(WorkBudget.units(forBytes: beginning.count))
        let cleaned = SheetWriter.clean(beginning.string)
        let kept = SheetWriter.cut(cleaned)
        hasCut = hasCut || kept.utf8.count != cleaned.utf8.count || kept.utf8.last != cleaned.utf8.last
        rowBytes += kept.utf8.count
        try encoder.budget.requireRoom(for: rowBytes)
        try book.write(kept, row, column)
    }

    /// Returns a text without the characters that XML cannot hold.
    private static func clean(_ text: String) -> String {
        // The library escapes other control characters itself.
        guard text.unicodeScalars.contains(where: { $0.value == 0 || $0.value == 0xfffe || $0.value == 0xffff }) else {
            return text
        }
        var cleaned = ""
        for scalar in text.unicodeScalars {
            cleaned.unicodeScalars.append([0, 0xfffe, 0xffff].contains(scalar.value) ? "\u{fffd}" : scalar)
        }
        return cleaned
    }

    /// Returns a text with an ellipsis at its end if it is longer than a cell takes.
    private static func cut(_ text: String) -> String {
        guard text.utf8.count > Workbook.textLimit, text.utf16.count > Workbook.textLimit else { return text }
        var kept = ""
        var count = 0
        for scalar in text.unicodeScalars {
            count += scalar.utf16.count
            if count >= Workbook.textLimit { break }
            kept.unicodeScalars.append(scalar)
        }
        return kept + "…"
    }
}
