// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares values or keys of a dictionary of the base class with one constant.
///
/// The entries are read in place.
final class EntriesCondition: Condition {
    /// The compared part of a dictionary.
    enum Part {
        /// The value of one key. In a dictionary without entries there is none, and the condition does not hold; in others a missing key
        /// has the value null.
        case value(ofKey: ByteView)
        case values(Quantifier)
        case keys(Quantifier)
    }

    private let column: Column
    /// The class that has the dictionary as a property.
    private let table: Table
    private let part: Part
    private let test: ElementTest
    private let label: String
    private let cancellation: CancellationCheck
    /// The text that is looked for among values or keys; nil where that is another comparison.
    private let wanted: CellText?
    /// Whether a dictionary must not have that text.
    private let isNegated: Bool

    /// Creates the condition.
    ///
    /// - Parameters:
    ///   - column: The dictionary.
    ///   - part: The compared part of a dictionary.
    ///   - test: The comparison.
    ///   - label: The part of the query that the condition implements.
    ///   - cancellation: The check that can stop the query.
    init(_ column: Column, of table: Table, _ part: Part, test: ElementTest, label: String, _ cancellation: CancellationCheck) {
        self.column = column
        self.table = table
        self.part = part
        self.test = test
        self.label = label
        self.cancellation = cancellation
        let text = if case .keys = part { test.wantedText } else { test.wantedAmongValues }
        wanted = text.map { CellText($0) }
        switch part {
        case .values(.none), .keys(.none): isNegated = true
        default: isNegated = false
        }
    }

    var cost: Double { 60 }
    var outline: ConditionOutline { ConditionOutline("entries in place", label: label) }

    func evaluate(_ leaf: ClusterLeaf, _ candidates: Mask) throws(StorageError) -> Mask {
        if let wanted, let outcome = try dictionaries(with: wanted, leaf, candidates) {
            try cancellation.step(candidates.count)
            let known = isNegated ? candidates.subtracting(outcome.found | outcome.others) : outcome.found
            guard !outcome.others.isEmpty else { return known }
            let roots = try leaf.attachRefs(column)
            return known | (try outcome.others.filter { row throws(StorageError) in try holds(roots, row, leaf.space) })
        }
        let roots = try leaf.attachRefs(column)
        if case .keys(let quantifier) = part, let pattern = test.textPattern {
            var texts = TextBatch()
            return try texts.evaluate(candidates, quantifier, pattern, cancellation: cancellation) { row throws(StorageError) in
                let root = try roots.optionalRef(row, "dictionary in column '\(column.name)'")
                return try root.isNone ? nil : short(root, leaf.space)?.attachKeys()
            } otherwise: { row throws(StorageError) in
                try holds(roots, row, leaf.space)
            }
        }
        return try candidates.filter { row throws(StorageError) in try holds(roots, row, leaf.space) }
    }

    func matches(_ row: Row) throws(StorageError) -> Bool {
        try holds(try row.leaf.attachRefs(column), row.index, row.leaf.space)
    }

    /// Finds the dictionaries with a text among their values, or as the value of the key; nil where something else is compared.
    private func dictionaries(
        with text: CellText, _ leaf: ClusterLeaf, _ candidates: Mask
    ) throws(StorageError) -> LeafCollections.Outcome? {
        guard column.dictionaryKeyType == .string else { return nil }
        switch part {
        case .value(let key):
            return try LeafCollections(column, of: leaf).dictionaries(
                with: text, forKey: CellText(key), among: candidates)
        case .values(let quantifier) where quantifier != .all:
            return try LeafCollections(column, of: leaf).dictionaries(with: text, among: candidates)
        case .keys(let quantifier) where quantifier != .all:
            return try LeafCollections(column, of: leaf).dictionaries(withKey: text, among: candidates)
        default: return nil
        }
    }

    /// Returns whether the dictionary of a row fulfils the condition.
    private func holds(_ roots: Node, _ row: Int, _ space: NodeSpace) throws(StorageError) -> Bool {
        try cancellation.step()
        let root = try roots.optionalRef(row, "dictionary in column '\(column.name)'")
        switch part {
        case .value(let key): return try root.isNone ? false : holds(valueOf: key, root, space)
        case .values(let quantifier):
            if root.isNone { return quantifier != .any }
            return try hasValue(quantifier != .all, root, space) == (quantifier == .any)
        case .keys(let quantifier):
            if root.isNone { return quantifier != .any }
            return try hasKey(quantifier != .all, root, space) == (quantifier == .any)
        }
    }

    /// Attaches a dictionary whose entries can be read in place; nil for another one.
    private func short(_ root: Ref, _ space: NodeSpace) throws(StorageError) -> ShortDictionary? {
        try ShortDictionary(root: root, space: space, keyType: column.dictionaryKeyType, fileFormat: table.fileFormat)
    }

    /// Attaches a dictionary of any form.
    private func whole(_ root: Ref, _ space: NodeSpace) throws(StorageError) -> DictionaryView {
        try DictionaryView(root: root, space: space, keyType: column.dictionaryKeyType, fileFormat: table.fileFormat)
    }

    /// Returns whether the value of a key fulfils the comparison.
    private func holds(valueOf key: ByteView, _ root: Ref, _ space: NodeSpace) throws(StorageError) -> Bool {
        guard let dictionary = try short(root, space) else {
            let dictionary = try whole(root, space)
            guard dictionary.count > 0 else { return false }
            return try test.holds(try dictionary.find(key) ?? .null, cancellation)
        }
        switch try dictionary.search(key) {
        case .empty: return false
        case .missing: return try test.holds(.null, cancellation)
        case .found(let index): return try test.holds(try dictionary.value(at: index), cancellation)
        }
    }

    /// Returns whether an entry has a value for which the comparison has the outcome `wanted`.
    private func hasValue(_ wanted: Bool, _ root: Ref, _ space: NodeSpace) throws(StorageError) -> Bool {
        guard let dictionary = try short(root, space) else {
            var entries = try whole(root, space).entries()
            while let entry = try entries.next() {
                if try test.holds(entry.value, cancellation) == wanted { return true }
            }
            return false
        }
        let values = try dictionary.attachValues()
        for row in 0..<values.count where try test.holds(try values.value(row), cancellation) == wanted { return true }
        return false
    }

    /// Returns whether an entry has a key for which the comparison has the outcome `wanted`.
    private func hasKey(_ wanted: Bool, _ root: Ref, _ space: NodeSpace) throws(StorageError) -> Bool {
        guard let dictionary = try short(root, space) else {
            var entries = try whole(root, space).entries()
            while let entry = try entries.next() {
                if try test.holds(.string(entry.key.bytes), cancellation) == wanted { return true }
            }
            return false
        }
        return try test.has(wanted, in: try dictionary.attachKeys(), cancellation)
    }
}

extension DictionaryOperand {
    /// Returns what the steps select if that is the value of one key or all values; nil for longer paths.
    ///
    /// - Parameter quantifier: The number of values that have to fulfil a comparison.
    func part(_ quantifier: Quantifier) -> EntriesCondition.Part? {
        guard descent.steps.count == 1 else { return nil }
        switch descent.steps[0] {
        case .all: return .values(quantifier)
        case .key(let name, let key) where name != "@keys" && quantifier == .any: return .value(ofKey: key)
        default: return nil
        }
    }
}
