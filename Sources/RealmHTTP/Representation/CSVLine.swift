// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes lines of CSV (RFC 4180) cell by cell. Null is an empty cell, the empty string a quoted one.
///
/// Used by one thread at a time.
final class CSVLine {
    private let cell = OutputBuffer(capacity: 256)
    private var isFirst = true
    /// Puts an apostrophe before texts that a spreadsheet would take for formulas.
    var guardsFormulas = false

    /// The next cell holds what `fill` appends; false stands for null. A number is no formula whatever its sign.
    func add(
        to buffer: OutputBuffer, isNumber: Bool = false, _ fill: (OutputBuffer) throws(StorageError) -> Bool
    ) throws(StorageError) {
        if !isFirst { buffer.append(UInt8(ascii: ",")) }
        isFirst = false
        cell.removeAll()
        if try fill(cell) { write(to: buffer, isNumber: isNumber) }
    }

    /// Adds a cell. Null is an empty cell without quotes; an empty text has quotes.
    func add(_ text: String?, to buffer: OutputBuffer) {
        if !isFirst { buffer.append(UInt8(ascii: ",")) }
        isFirst = false
        guard let text else { return }
        cell.removeAll()
        cell.append(text)
        write(to: buffer)
    }

    /// Forgets a line that was given up.
    func begin() { isFirst = true }

    /// Ends the line with CRLF.
    func end(in buffer: OutputBuffer) {
        buffer.append("\r\n" as StaticString)
        isFirst = true
    }

    private func write(to buffer: OutputBuffer, isNumber: Bool = false) {
        let needsQuotes = unsafe cell.withBytes { bytes in
            unsafe bytes.isEmpty || bytes.contains { $0 == 0x22 || $0 == 0x2c || $0 == 0x0a || $0 == 0x0d }
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

    /// `=`, `+`, `-`, `@`, tab and carriage return.
    private static func beginsFormula(_ byte: UInt8) -> Bool {
        byte == 0x3d || byte == 0x2b || byte == 0x2d || byte == 0x40 || byte == 0x09 || byte == 0x0d
    }
}

extension OutputBuffer {
    /// Takes the quotes off JSON text that is one string of which nothing is escaped: dates, ids, base64.
    func removeQuotes() {
        guard count >= 2 else { return }
        let text = array
        guard text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return }
        removeAll()
        append(text[1..<text.count - 1])
    }
}
