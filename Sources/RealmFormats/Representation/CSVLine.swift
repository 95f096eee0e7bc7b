// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// Writes lines of CSV (RFC 4180) cell by cell.
///
/// Null is an empty cell, and the empty string is a pair of quotation marks, so that an import can
/// distinguish them. Used by one thread at a time.
package final class CSVLine {
    /// The text of the current cell, before it is quoted. The memory is used again for each cell.
    private let cell = OutputBuffer(capacity: 256)
    /// Whether the next cell is the first of its line, and so needs no comma before it.
    private var isFirst = true
    /// Whether texts that a spreadsheet would evaluate as formulas get an apostrophe before them.
    package var guardsFormulas = false
    /// The separator of two cells.
    package var separator = UInt8(ascii: ",")

    package init() {}

    /// Adds a cell whose text a closure provides.
    ///
    /// - Parameters:
    ///   - buffer: The buffer that the line is appended to.
    ///   - isNumber: Whether the text is a number, which is not a formula, even with a sign.
    ///   - fill: Appends the text to the buffer that it is given; returns false for null.
    /// - Throws: The errors of `fill`; the line is then incomplete, and `begin()` has to follow.
    package func add(
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
    package func add(_ text: String?, to buffer: OutputBuffer) {
        if !isFirst { buffer.append(separator) }
        isFirst = false
        guard let text else { return }
        cell.removeAll()
        cell.append(text)
        write(to: buffer)
    }

    /// Begins a line, also after one that was abandoned in the middle.
    package func begin() { isFirst = true }

    /// Ends the line with CR and LF.
    package func end(in buffer: OutputBuffer) {
        buffer.append("\r\n" as StaticString)
        isFirst = true
    }

    /// Writes the current cell, in quotation marks if it contains the separator, a quotation mark or a line break, or is empty.
    ///
    /// - Parameters:
    ///   - buffer: The buffer that the line is appended to.
    ///   - isNumber: Whether the text is a number.
    private func write(to buffer: OutputBuffer, isNumber: Bool = false) {
        let needsQuotes = unsafe cell.withBytes { bytes in
            unsafe bytes.isEmpty
                || bytes.contains { $0 == 0x22 || $0 == separator || $0 == 0x0a || $0 == 0x0d }
                || guardsFormulas && bytes.contains(where: CSVLine.maySeparate)
        }
        let isGuarded = guardsFormulas && !isNumber && isFormula()
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

    /// Returns whether a spreadsheet takes the current cell for a formula: it begins with `=`, `+`, `-` or `@`, also in their full-width forms,
    /// or with blanks or control characters, which a spreadsheet may pass over before it looks.
    private func isFormula() -> Bool {
        unsafe cell.withBytes { bytes in
            guard let first = unsafe bytes.first else { return false }
            if first <= 0x20 || first == 0x7f { return true }
            if first == 0x3d || first == 0x2b || first == 0x2d || first == 0x40 { return true }
            guard bytes.count >= 3 else { return false }
            let (second, third) = unsafe (bytes[1], bytes[2])
            switch (first, second) {
            // ＋ － ＝ ＠ are U+FF0B, U+FF0D, U+FF1D and U+FF20.
            case (0xef, 0xbc): return third == 0x8b || third == 0x8d || third == 0x9d || third == 0xa0
            // A byte order mark, and the minus sign U+2212.
            case (0xef, 0xbb): return third == 0xbf
            case (0xe2, 0x88): return third == 0x92
            // No-break space.
            case (0xc2, 0xa0): return true
            default: return false
            }
        }
    }

    /// Whether some spreadsheet ends a cell at this byte, whatever separates the cells: a comma, a semicolon, a tab.
    private static func maySeparate(_ byte: UInt8) -> Bool { byte == 0x2c || byte == 0x3b || byte == 0x09 }
}

extension OutputBuffer {
    /// Removes the quotation marks from JSON text that is one string without escapes: a date, an id, base64.
    ///
    /// Any other text stays as it is.
    package func removeQuotes() {
        guard count >= 2 else { return }
        let text = array
        guard text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return }
        removeAll()
        append(text[1..<text.count - 1])
    }
}
