// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Applies the steps of a path to a mixed value and the collections nested in it.
///
/// The selected values are collected in groups: every place at which the last step is tried opens a
/// group of its own, because comparisons are made with each group separately.
struct ValueDescent {
    /// The steps, the first of which applies to the value of the property.
    let steps: [PathStep]
    /// The snapshot from which nested collections and linked objects are read.
    let snapshot: Snapshot
    /// The check that can stop the query; nil where a caller limits the work itself.
    let cancellation: CancellationCheck?

    /// Whether the steps select one value at most: there is neither `[*]` nor `@keys` among them.
    var selectsOne: Bool {
        steps.allSatisfy {
            if case .key(let name, _) = $0 { return name != "@keys" }
            return !$0.isAll
        }
    }

    /// Collects what the steps select below a value.
    ///
    /// The recursion is as deep as the path is long, so the query bounds it.
    ///
    /// - Parameters:
    ///   - value: A value of any type; without steps left, it is selected itself.
    ///   - index: The index of the first step to apply.
    ///   - groups: Receives the selected values.
    /// - Throws: A storage error when the file is damaged, when the check asks to stop, or when
    ///   there are too many values.
    func collect(_ value: Value, from index: Int = 0, into groups: inout ValueGroups) throws(StorageError) {
        try cancellation?.step()
        guard index < steps.count else { return try groups.append(value) }
        let isLast = index == steps.count - 1
        switch value {
        case .dictionary(let root):
            let dictionary = try DictionaryView(root: root, space: snapshot.space)
            return try collect(dictionary, from: index, into: &groups)
        case .list(let root): try collectElements(root, index, into: &groups)
        case .link(let table, let key): try collectProperty(table, key, index, into: &groups)
        default: break
        }
        if isLast { groups.closeGroup() }
    }

    /// Collects what the steps select below a dictionary.
    ///
    /// A key that does not exist selects null if it is the last step; in an empty dictionary it selects nothing.
    ///
    /// - Parameters:
    ///   - dictionary: The dictionary to which the step at `index` applies.
    ///   - index: The index of the first step to apply.
    ///   - groups: Receives the selected values.
    func collect(_ dictionary: DictionaryView, from index: Int, into groups: inout ValueGroups) throws(StorageError) {
        let isLast = index == steps.count - 1
        if dictionary.count > 0 {
            switch steps[index] {
            case .key(let name, let key):
                if let value = try dictionary.find(key) {
                    try collect(value, from: index + 1, into: &groups)
                } else if name == "@keys", isLast {
                    var entries = dictionary.entries()
                    while let entry = try entries.next() { try groups.append(.string(entry.key.bytes)) }
                } else if isLast {
                    try groups.append(.null)
                }
            case .all:
                var entries = dictionary.entries()
                while let entry = try entries.next() { try collect(entry.value, from: index + 1, into: &groups) }
            case .index, .last: break
            }
        }
        if isLast { groups.closeGroup() }
    }

    /// Collects what the steps select below a nested list. An index past its end selects nothing.
    private func collectElements(_ root: Ref, _ index: Int, into groups: inout ValueGroups) throws(StorageError) {
        guard !root.isNone else { return }
        let list = try ListView(nested: root, space: snapshot.space)
        switch steps[index] {
        case .index(let position) where position < list.count:
            try collect(try list.value(at: position), from: index + 1, into: &groups)
        case .last where list.count > 0:
            try collect(try list.value(at: list.count - 1), from: index + 1, into: &groups)
        case .all:
            var elements = list.elements()
            while let element = try elements.next() { try collect(element, from: index + 1, into: &groups) }
        default: break
        }
    }

    /// Collects what the steps select below a property of a linked object. Its collections are not entered.
    private func collectProperty(
        _ table: TableKey, _ key: ObjectKey, _ index: Int, into groups: inout ValueGroups
    ) throws(StorageError) {
        guard case .key(let name, _) = steps[index], let table = snapshot.table(table),
            let column = table.column(named: name), let row = try table.find(key)
        else { return }
        guard column.collection != nil else {
            return try collect(try row.value(column), from: index + 1, into: &groups)
        }
        // Collections of another object are not entered; they only count as values that are not null.
        guard index == steps.count - 1 else { return }
        let root = try row.leaf.collectionRoot(column, row: row.index)
        try groups.append(column.collection == .dictionary ? .dictionary(root) : .list(root))
    }
}
