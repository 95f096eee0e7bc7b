// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The proofs about the indexes of a version.
struct IndexProofs: Sendable {
    /// The results for proved indexes; the others are missing.
    private let results: [IndexProver.Place: IndexProof.Result]

    /// Makes what was proved.
    ///
    /// - Parameter results: By table and column; without any, everything is checked exactly.
    init(_ results: [IndexProver.Place: IndexProof.Result] = [:]) { self.results = results }

    /// Returns what is proved about the index of a column; nil for nothing.
    func result(_ table: Table, _ column: Column) -> IndexProof.Result? {
        results[IndexProver.Place(table: table.key, column: column.leafIndex)]
    }

    /// Returns whether it is proved that no two objects of a table have the same primary key.
    func provesUniqueness(of table: Table) -> Bool {
        table.primaryKey.flatMap { result(table, $0) }?.isUnique ?? false
    }
}
