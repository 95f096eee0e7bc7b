// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// `.length`: the length in bytes of each element of a list or set of strings, binary data or mixed values.
final class ElementLengthOperand: Operand {
    var type: OperandType { .int }
    let quantifier: Quantifier?
    let label: String
    private let column: Column
    private let chain: LinkChain
    private let reader: ColumnReader

    /// Creates the operand for the lengths of the elements of a list or set.
    ///
    /// - Parameters:
    ///   - chain: The path to the objects that hold it; empty for the object itself.
    ///   - quantifier: The quantifier before the path, if there is one.
    ///   - label: The text of the operand.
    init(_ column: Column, chain: LinkChain, quantifier: Quantifier?, label: String) {
        self.column = column
        self.chain = chain
        reader = ColumnReader(column)
        self.quantifier = quantifier
        self.label = label
    }

    var isMultiValued: Bool { true }
    var single: (any SingleOperand)? { nil }
    var isCollectionForIn: Bool { true }

    /// Collects the lengths of the elements of all collections that the path reaches, as one list.
    ///
    /// - Complexity: O(number of elements).
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: true)
        try chain.forEachRow(from: row) { target throws(StorageError) in
            let root = try reader.root(target)
            guard !root.isNone else { return true }
            let list = try ListView(root: root, space: target.leaf.space, shape: column.elementShape)
            var elements = list.elements()
            while let element = try elements.next() {
                try chain.cancellation?.step()
                switch element {
                case .string(let bytes), .binary(let bytes): try groups.append(.int(Int64(bytes.count)))
                // A null among strings has length zero; among mixed values it has none.
                case .null where column.type != .mixed: try groups.append(.int(0))
                default: break
                }
            }
            return true
        }
        groups.closeGroup()
    }
}
