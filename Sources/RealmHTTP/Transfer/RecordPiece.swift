// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Records of an import that follow each other in the input and were read in the same way.
enum RecordPiece: Sendable {
    /// Objects of one class with plain values, and the places of their records.
    case rows(ObjectRows, [RecordPlace])
    /// Any records.
    case records([RecordParser.Record])

    /// How many records there are.
    var count: Int {
        switch self {
        case .rows(_, let places): return places.count
        case .records(let records): return records.count
        }
    }

    /// Returns the records from a position on: one record, or rows, but no more than `limit`. Nil at the end.
    func part(from position: Int, atMost limit: Int) -> RecordPiece? {
        guard position < count else { return nil }
        switch self {
        case .records(let records): return .records([records[position]])
        case .rows(let rows, let places):
            let range = position..<min(count, position + max(1, limit))
            return .rows(rows.part(range), range.count == count ? places : Array(places[range]))
        }
    }
}
