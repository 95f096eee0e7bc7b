// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The links themselves at the end of a path.
final class LinkOperand: SingleOperand {
    var type: OperandType { .link }
    let quantifier: Quantifier?
    let label: String
    let chain: LinkChain
    let target: Table

    init(_ chain: LinkChain, target: Table, quantifier: Quantifier?, label: String) {
        self.chain = chain
        self.target = target
        self.quantifier = quantifier
        self.label = label
    }

    var isMultiValued: Bool { !chain.isUnary }
    var single: (any SingleOperand)? { isMultiValued ? nil : self }
    var isCollectionForIn: Bool { !chain.isUnary }

    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var found = Value.null
        try chain.forEachKey(from: row) { key in
            found = .link(target.key, key)
            return false
        }
        return found
    }

    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        if chain.isUnary { return groups.set(try value(row)) }
        groups.reset(isList: true)
        try chain.forEachKey(from: row) { key throws(StorageError) in
            try groups.append(.link(target.key, key))
            return true
        }
        groups.closeGroup()
    }
}
