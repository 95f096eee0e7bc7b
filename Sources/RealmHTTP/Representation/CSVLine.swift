// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes lines of CSV (RFC 4180) cell by cell.
///
/// Null is an empty cell, and the empty string is a pair of quotation marks, so that an import can
/// distinguish them. Used by one thread at a time.
final class CSVLine {
    /// The text of the current cell, before it is quoted. The memory is used again for each cell.
    private let cell = OutputBuffer(capacity: 256)
    /// Whether the next cell is the first of its line, and so needs no comma before it.
    private var isFirst = true
    /// Whether texts that a spreadsheet would evaluate as formulas get an apostrophe before them.
    var guardsFormulas = false
    /// What stands between two cells.
    var separator = UInt8(ascii: ",")

    /// Adds a cell whose text a closure provides.
    ///
    /// - Parameters:
    ///   - buffer: The buffer that the line is appended to.
    ///   - isNumber: Whether the text is a number, which is no formula whatever its sign.
    ///   - fill: Appends the text to the buffer that it is given; returns false for null.
    /// - Throws: What `fill` throws; the line is then incomplete, and `begin()` has to follow.
    func add(
        to buffer: OutputBuffer, isNumber: Bool = false, _ fill: (OutputBuffer) throws(StorageError) -> Bool
    ) throws(StorageError) {
        if !isFirst { buffer.append(separator) }
        isFirst = false
        cell.removeAll()
        if try fill(cell) { write(to: buffer, isNumber: isNumber) }
    }

    /// Adds a cell with a text.
    ///
    /// - Parameters:
    ///   - text: The text; nil for null.
    ///   - buffer: The buffer that the line is appended to.
    func add(_ text: String?, to buffer: OutputBuffer) {
        if !isFirst { buffer.append(separator) }
        isFirst = false
        guard let text else { return }
        cell.removeAll()
        cell.append(text)
        write(to: buffer)
    }

    /// Begins a line, also after one that was given up in the middle.
    func begin() { isFirst = true }

    /// Ends the line with CR and LF.
    func end(in buffer: OutputBuffer) {
        buffer.append("\r\n" as StaticString)
        isFirst = true
    }

    /// Writes the current cell, in quotation marks if it contains the separator, a quotation mark or a
    /// line break, or is empty.
    ///
    /// - Parameters:
    ///   - buffer: The buffer that the line is appended to.
    ///   - isNumber: Whether the text is a number.
    private func write(to buffer: OutputBuffer, isNumber: Bool = false) {
        let needsQuotes = unsafe cell.withBytes { bytes in
            unsafe bytes.isEmpty || bytes.contains { $0 == 0x22 || $0 == separator || $0 == 0x0a || $0 == 0x0d }
        }
        let isGuarded =
            unsafe guardsFormulas && !isNumber && cell.withBytes { unsafe $0.first.map(CSVLine.beginsFormula) ?? false }
        guard needsQuotes else {
            if isGuarded { buffer.append(UInt8(ascii: "'")) }
            return buffer.append(cell)
        }
        buffer.append(UInt8(ascii: "\""))
        if isGuarded { buffer.append(UInt8(ascii: "'")) }
        unsafe cell.withBytes { bytes in
            for index in 0..<bytes.count {
                let byte = unsafe bytes[index]
                if byte == UInt8(ascii: "\"") { buffer.append(byte) }
                buffer.append(byte)
            }
        }
        buffer.append(UInt8(ascii: "\""))
    }

    /// Returns whether a text that begins with this byte is a formula to spreadsheets: `=`, `+`,
    /// `-`, `@`, tab or carriage return.
    private static func beginsFormula(_ byte: UInt8) -> Bool {
        byte == 0x3d || byte == 0x2b || byte == 0x2d || byte == 0x40 || byte == 0x09 || byte == 0x0d
    }
}

extension OutputBuffer {
    /// Removes the quotation marks from JSON text that is one string without escapes: a date, an
    /// id, base64.
    ///
    /// Any other text stays as it is.
    func removeQuotes() {
        guard count >= 2 else { return }
        let text = array
        guard text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return }
        removeAll()
        append(text[1..<text.count - 1])
    }
}
