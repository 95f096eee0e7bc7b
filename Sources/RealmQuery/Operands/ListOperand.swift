// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A list or set of values that are not links, also through links: all of its elements, or one of them.
///
/// Each list that is reached is a group of its own.
final class ListOperand: Operand {
    let type: OperandType
    private(set) var quantifier: Quantifier?
    let label: String
    let column: Column
    /// The path to the objects that hold the collection; empty for the object itself.
    let chain: LinkChain
    /// The first step selects elements of the list, later ones descend into mixed elements.
    private let descent: ValueDescent
    private let reader: ColumnReader

    /// Creates the operand for the elements of a list or set.
    ///
    /// - Parameters:
    ///   - chain: The path to the objects that hold it; empty for the object itself.
    ///   - descent: The steps into the list; without steps, all elements are taken.
    ///   - quantifier: The quantifier before the path, if there is one.
    ///   - label: The text of the operand.
    init(_ column: Column, chain: LinkChain, descent: ValueDescent, quantifier: Quantifier?, label: String) {
        self.column = column
        self.chain = chain
        self.descent = descent
        reader = ColumnReader(column)
        type = OperandType(column.type)
        self.quantifier = quantifier
        self.label = label
    }

    /// Whether the elements themselves are taken, all of them.
    var takesAll: Bool { descent.steps.isEmpty || descent.steps.count == 1 && descent.steps[0].isAll }

    var isMultiValued: Bool { true }
    var selectsOne: Bool { chain.isUnary && !descent.steps.isEmpty && descent.selectsOne }
    func demandAny() { quantifier = .any }
    var single: (any SingleOperand)? { nil }
    var isCollectionForIn: Bool { true }
    var isPrimitiveCollection: Bool { true }

    /// Collects the selected elements of every list that the path reaches.
    func evaluate(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        groups.reset(isList: true)
        if chain.isEmpty {
            try collect(row, into: &groups)
        } else {
            try chain.forEachRow(from: row) { target throws(StorageError) in
                try collect(target, into: &groups)
                return true
            }
        }
        groups.finish()
    }

    /// Collects the elements of the list of one object. When later steps descend into an element, these open the groups.
    private func collect(_ row: borrowing Row, into groups: inout ValueGroups) throws(StorageError) {
        let opensGroup = descent.steps.count < 2
        let root = try reader.root(row)
        if !root.isNone {
            let list = try ListView(root: root, space: row.leaf.space, shape: column.elementShape)
            try collect(list, into: &groups)
        }
        if opensGroup { groups.closeGroup() }
    }

    /// Collects the elements that the first step selects. An index past the end of a list that is not empty yields null.
    private func collect(_ list: ListView, into groups: inout ValueGroups) throws(StorageError) {
        guard list.count > 0 else { return }
        switch descent.steps.first {
        case .index(let index):
            try descend(index < list.count ? try list.value(at: index) : .null, into: &groups)
        case .last: try descend(try list.value(at: list.count - 1), into: &groups)
        case .all, .key, nil:
            var elements = list.elements()
            while let element = try elements.next() { try descend(element, into: &groups) }
        }
    }

    /// Collects an element itself, or what the steps after the first one select in it.
    private func descend(_ value: Value, into groups: inout ValueGroups) throws(StorageError) {
        if descent.steps.count < 2 { try groups.append(value) } else { try descent.collect(value, from: 1, into: &groups) }
    }
}
