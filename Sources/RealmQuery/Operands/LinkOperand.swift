// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The links themselves at the end of a path, which are compared by the identity of their objects.
final class LinkOperand: SingleOperand {
    var type: OperandType { .link }
    let quantifier: Quantifier?
    let label: String
    /// The path, whose last step is the links that are compared.
    let chain: LinkChain
    /// The class of the objects that the compared links lead to.
    let target: Table

    /// Creates the operand for the links at the end of a path.
    ///
    /// - Parameters:
    ///   - chain: The path, the links at its end included.
    ///   - target: The class that the links lead to.
    ///   - quantifier: The quantifier before the path, if there is one.
    ///   - label: The text of the operand.
    init(_ chain: LinkChain, target: Table, quantifier: Quantifier?, label: String) {
        self.chain = chain
        self.target = target
        self.quantifier = quantifier
        self.label = label
    }

    var isMultiValued: Bool { !chain.isUnary }
    var single: (any SingleOperand)? { isMultiValued ? nil : self }
    var isCollectionForIn: Bool { !chain.isUnary }

    /// Returns the one link that a path of to-one links reaches, with the key of its table; null when there is none.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        var found = Value.null
        try chain.forEachKey(from: row) { key in
            found = .link(target.key, key)
            return false
        }
        return found
    }

    /// Collects all links that the path reaches, as one list. Null and unresolved links contribute nothing.
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
