// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Cuts an import into records: lines, or records of CSV, in which quotes may hold line ends.
struct RecordReader: Sendable {
    /// What ends a record: a line feed, or one outside quotes.
    enum Form: Sendable { case lines, csv }

    private enum State { case start, inside, quoted, quote, carriageReturn }

    private static let pieceByteCount = 1 << 20

    private let source: ImportSource
    private let form: Form
    private var buffer: [UInt8] = []
    /// Where `buffer` begins in the source.
    private var base = 0
    /// The start of the next record in `buffer`.
    private var start = 0
    private var line = 1

    /// A reader at the beginning of a body.
    init(_ source: ImportSource, _ form: Form) {
        self.source = source
        self.form = form
    }

    /// The next record without its line end, or nil at the end.
    mutating func next() throws(Problem) -> (place: RecordPlace, bytes: ArraySlice<UInt8>)? {
        var scanned = 0
        var state = State.start
        while true {
            if let end = end(after: &scanned, &state) { return take(upTo: end.record, next: end.next) }
            guard buffer.count - start <= source.recordLimit else { throw tooLong() }
            guard try refill() else { break }
        }
        guard start < buffer.count else { return nil }
        return take(upTo: state == .carriageReturn ? buffer.count - 1 : buffer.count, next: buffer.count)
    }

    private func tooLong() -> Problem {
        Problem.overLimit(
            .bodyTooLarge, "a line is longer than \(source.recordLimit) bytes", limit: source.recordLimit
        ).with("line", .integer(Int64(line)))
    }

    private mutating func take(upTo end: Int, next: Int) -> (place: RecordPlace, bytes: ArraySlice<UInt8>) {
        let bytes = buffer[start..<end]
        let place = RecordPlace(line: line, offset: base + start, byteCount: end - start)
        line += 1
        if form == .csv { for byte in bytes where byte == UInt8(ascii: "\n") { line += 1 } }
        start = next
        return (place, bytes)
    }

    /// Lets go of what was taken and adds a piece; false at the end.
    private mutating func refill() throws(Problem) -> Bool {
        let piece = try source.read(at: base + buffer.count, byteCount: RecordReader.pieceByteCount)
        guard !piece.isEmpty else { return false }
        buffer.removeSubrange(..<start)
        base += start
        start = 0
        buffer.append(contentsOf: piece)
        // A mark that some programs put in front of UTF-8.
        if base == 0, form == .csv, buffer.starts(with: [0xef, 0xbb, 0xbf]) { start = 3 }
        return true
    }

    // MARK: - Ends

    /// The end of the record and the start of the next one, when `buffer` has both. `scanned` bytes of the record are known.
    private func end(after scanned: inout Int, _ state: inout State) -> (record: Int, next: Int)? {
        guard form == .csv else {
            let index = buffer[(start + scanned)...].firstIndex(of: UInt8(ascii: "\n"))
            scanned = buffer.count - start
            return index.map { (record: $0, next: $0 + 1) }
        }
        for index in (start + scanned)..<buffer.count {
            let byte = buffer[index]
            if state == .carriageReturn { return (record: index - 1, next: byte == UInt8(ascii: "\n") ? index + 1 : index) }
            if byte == UInt8(ascii: "\n"), state != .quoted { return (record: index, next: index + 1) }
            state = RecordReader.state(after: byte, state)
        }
        scanned = buffer.count - start
        return nil
    }

    private static func state(after byte: UInt8, _ state: State) -> State {
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")): return .quote
        case (.quoted, _): return .quoted
        // A second quote stands for one; a quote within a bare cell is a character like any other.
        case (.start, UInt8(ascii: "\"")), (.quote, UInt8(ascii: "\"")): return .quoted
        case (_, UInt8(ascii: ",")): return .start
        case (_, UInt8(ascii: "\r")): return .carriageReturn
        default: return .inside
        }
    }
}
