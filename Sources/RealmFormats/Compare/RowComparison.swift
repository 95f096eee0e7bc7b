// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Compares the values of an object in two versions, or of all objects of two leaves at once.
///
/// Columns with equal bytes are left out. Other values are equal if their texts are, so two forms of one value in the file, and
/// values of two types with the same text, are no difference.
final class RowComparison {
    private let realms: ComparedRealms
    private let agreement: LinkAgreement
    private let budget: WorkBudget
    /// The text of the earlier value.
    private let before = OutputBuffer()
    /// The text of the later value.
    private let after = OutputBuffer()

    init(_ realms: ComparedRealms, _ budget: WorkBudget) {
        self.realms = realms
        self.budget = budget
        agreement = LinkAgreement(realms, budget)
    }

    /// Returns the positions of the properties whose values differ.
    ///
    /// - Throws: An error of storage, or of a budget that is used up.
    func changes(of one: ComparedClass, _ old: Row, _ new: Row) throws(StorageError) -> [Int] {
        try budget.spend(one.properties.count)
        budget.beginPart(at: 0)
        var positions: [Int] = []
        for (position, property) in one.properties.enumerated() where try differs(property, old, new) {
            positions.append(position)
        }
        return positions
    }

    /// Returns the objects that differ of two leaves whose objects are the same, by their rows, with the positions of the properties
    /// that differ.
    func changes(of one: ComparedClass, _ old: ClusterLeaf, _ new: ClusterLeaf) throws(StorageError) -> [Int: [Int]] {
        let comparison = SubtreeComparison(from: old.space, to: new.space, sharesNodes: realms.options.sharesNodes)
        var changes: [Int: [Int]] = [:]
        for (position, property) in one.properties.enumerated() {
            try budget.spend()
            if let before = property.old?.column, let after = property.new?.column, try agreement.holds(property),
                try comparison.areEqual(try old.ref(of: before), try new.ref(of: after))
            {
                continue
            }
            try budget.spend(old.count)
            for row in try candidates(property, old, new) {
                budget.beginPart(at: 0)
                if try differs(property, Row(leaf: old, index: row), Row(leaf: new, index: row)) {
                    changes[row, default: []].append(position)
                }
            }
        }
        return changes
    }

    /// Returns the rows of two leaves whose values may differ.
    private func candidates(
        _ property: ComparedProperty, _ old: ClusterLeaf, _ new: ClusterLeaf
    ) throws(StorageError) -> [Int] {
        guard property.form == .scalar, let before = property.old?.column, let after = property.new?.column else {
            return Array(0..<old.count)
        }
        let (left, right) = (try old.attach(before), try new.attach(after))
        var rows: [Int] = []
        for row in 0..<old.count where try !left.value(row).isIdentical(to: try right.value(row)) { rows.append(row) }
        return rows
    }

    private func differs(_ property: ComparedProperty, _ old: Row, _ new: Row) throws(StorageError) -> Bool {
        guard let before = property.old else { return try !(property.new?.isDefault(new, in: realms.new.snapshot) ?? true) }
        guard let after = property.new else { return try !before.isDefault(old, in: realms.old.snapshot) }
        switch property.form {
        case .scalar:
            if try old.value(before.column).isIdentical(to: try new.value(after.column)) { return false }
        case .collection where property.hasSameLayout:
            let comparison = SubtreeComparison(
                from: old.leaf.space, to: new.leaf.space, sharesNodes: realms.options.sharesNodes)
            let roots = (
                try old.leaf.collectionRoot(before.column, row: old.index),
                try new.leaf.collectionRoot(after.column, row: new.index)
            )
            if try comparison.areEqual(roots.0, roots.1) { return false }
        default: break
        }
        try write(before, old, realms.old, into: self.before)
        try write(after, new, realms.new, into: self.after)
        if self.before.hasSameBytes(as: self.after) { return false }
        return try !haveSameEntries((before, old), (after, new))
    }

    private func write(
        _ property: ComparedProperty.Side, _ row: Row, _ side: ComparedSide, into buffer: OutputBuffer
    ) throws(StorageError) {
        buffer.removeAll()
        var writer = JSONWriter(buffer)
        try side.compared.writeValue(of: property.compared, row, to: &writer)
    }

    /// Returns whether two dictionaries have the same entries in another order. Files of formats before 24 have them in another one.
    private func haveSameEntries(
        _ old: (property: ComparedProperty.Side, row: Row), _ new: (property: ComparedProperty.Side, row: Row)
    ) throws(StorageError) -> Bool {
        guard old.property.column.collection == .dictionary, new.property.column.collection == .dictionary,
            realms.old.snapshot.fileFormat != realms.new.snapshot.fileFormat, before.count == after.count
        else { return false }
        return try entries(old.property, old.row, realms.old) == entries(new.property, new.row, realms.new)
    }

    /// Returns the texts of the entries of a dictionary in the order of their keys.
    private func entries(_ property: ComparedProperty.Side, _ row: Row, _ side: ComparedSide) throws(StorageError) -> [[[UInt8]]]
    {
        var cursor = try row.dictionary(property.column, in: side.snapshot).entries()
        var entries: [[[UInt8]]] = []
        while let entry = try cursor.next() {
            try budget.spend()
            before.removeAll()
            var writer = JSONWriter(before)
            try side.compared.writeElement(entry.value, of: property.compared, to: &writer)
            switch entry.key {
            case .text(let bytes): entries.append([bytes.array, before.array])
            case .integer(let number): entries.append([Array(String(number).utf8), before.array])
            }
        }
        return entries.sorted { $0[0].lexicographicallyPrecedes($1[0]) }
    }
}
