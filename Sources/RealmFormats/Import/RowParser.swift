// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads lines of an import as rows, up to the first one that has to be read in another way.
struct RowParser {
    /// Reads single records; its class and its bounds apply here, too.
    private let parser: RecordParser
    /// The classes whose objects are read as rows.
    private let shapes: [RowShape]
    /// The number of bytes of all lines.
    private let byteCount: Int
    /// The number of lines.
    private let recordCount: Int
    /// The number of values that there may be in addition to those of the rows read so far. A row has a value for each property,
    /// whether it is given or not, so the length of the text alone does not bound the memory.
    private var valuesLeft: Int
    /// The number of times that rows of another class may begin.
    private var beginsLeft = 8
    /// The rows that were read before those of another class followed.
    private var pieces: [RecordPiece] = []
    /// The rows that were read last; nil before the first.
    private var rows: ObjectRows?
    private var places: [RecordPlace] = []

    /// The number of bytes of text for which there may be a value.
    private static let bytesOfValue = 4

    /// Prepares to read lines.
    ///
    /// - Parameters:
    ///   - parser: Reads single records.
    ///   - shapes: The classes whose objects are read as rows.
    ///   - byteCount: The number of bytes of all lines.
    ///   - recordCount: The number of lines.
    init(_ parser: RecordParser, _ shapes: [RowShape], byteCount: Int, recordCount: Int) {
        self.parser = parser
        self.shapes = shapes
        self.byteCount = byteCount
        self.recordCount = recordCount
        valuesLeft = byteCount / RowParser.bytesOfValue
        if let className = parser.className { begin(className) }
    }

    /// Reads a line. Returns whether it became a row; nothing has changed if not.
    mutating func add(_ bytes: ArraySlice<UInt8>, _ place: RecordPlace) -> Bool {
        guard !shapes.isEmpty else { return false }
        if rows == nil {
            guard let first = shapes.first else { return false }
            begin(first.className)
        }
        guard valuesLeft >= 0 else { return false }
        let needsClass = parser.className == nil
        var outcome = JSONTape.add(bytes, parser.bounds, needsClass: needsClass, to: &rows)
        if case .belongs(let className) = outcome, needsClass, begin(className) {
            outcome = JSONTape.add(bytes, parser.bounds, needsClass: true, to: &rows)
        }
        guard case .added = outcome else { return false }
        places.append(place)
        valuesLeft -= rows?.propertyCount ?? 0
        return true
    }

    mutating func finish() -> [RecordPiece] {
        end()
        return pieces
    }

    /// Begins rows of a class. Returns false when its objects are not read as rows.
    @discardableResult
    private mutating func begin(_ className: String) -> Bool {
        guard beginsLeft > 0, let shape = shapes.first(where: { $0.className == className }) else { return false }
        let isFirst = rows == nil && pieces.isEmpty
        end()
        beginsLeft -= 1
        var fresh = ObjectRows(shape, byteCount: byteCount)
        if isFirst {
            places.reserveCapacity(recordCount)
            fresh.reserve(min(recordCount, valuesLeft / max(1, fresh.propertyCount)))
        }
        rows = fresh
        return true
    }

    /// Ends the rows that were read last.
    private mutating func end() {
        if let rows, rows.count > 0 { pieces.append(.rows(rows, places)) }
        rows = nil
        places = []
    }
}
