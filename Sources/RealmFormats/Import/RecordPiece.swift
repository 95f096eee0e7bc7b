// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Records of an import that follow each other in the input and were read in the same way.
enum RecordPiece: Sendable {
    /// Objects of one class with plain values, and the places of their records.
    case rows(ObjectRows, [RecordPlace])
    case records([RecordParser.Record])

    /// The part that is taken at once.
    enum Part: Sendable {
        /// Objects of one class with plain values, and the places of their records.
        case rows(ObjectRows, [RecordPlace])
        case record(RecordParser.Record)
        /// None, though the input continues: that part of it was blank.
        case none

        var count: Int {
            switch self {
            case .rows(_, let places): return places.count
            case .record: return 1
            case .none: return 0
            }
        }
    }

    /// Returns the records from a position on: one record, or rows, but no more than `limit`. Nil at the end.
    func part(from position: Int, atMost limit: Int) -> Part? {
        switch self {
        case .records(let records): return position < records.count ? .record(records[position]) : nil
        case .rows(let rows, let places):
            guard position < places.count else { return nil }
            let range = position..<min(places.count, position + max(1, limit))
            return .rows(rows.part(range), range.count == places.count ? places : Array(places[range]))
        }
    }
}
