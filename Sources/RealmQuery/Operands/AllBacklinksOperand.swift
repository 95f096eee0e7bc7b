// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `@links.@count`: the number of incoming links of every kind, summed up over the objects of a path.
final class AllBacklinksOperand: SingleOperand {
    var type: OperandType { .int }
    var quantifier: Quantifier? { nil }
    let label: String
    private let chain: LinkChain
    private let columns: [Column]

    init(_ chain: LinkChain, target: Table, label: String) {
        self.chain = chain
        columns = target.backlinks
        self.label = label
    }

    var isMultiValued: Bool { false }
    var single: (any SingleOperand)? { self }

    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var count = 0
        try chain.forEachRow(from: row) { target throws(StorageError) in
            for column in columns { count += try target.leaf.backlinks(column, row: target.index).count }
            return true
        }
        return .int(Int64(count))
    }
}
