// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The primary keys of objects by their object keys, as all versions show them. The primary key of an object never changes.
final class KeyBook {
    /// The first key of an object that was found.
    private var sure: [ObjectPlace: String] = [:]
    /// Objects with several keys, which contradict each other.
    private var contradictions: [ObjectPlace: [String]] = [:]
    /// The keys in leaves of the present version that were asked for.
    private var presentKeys: [UInt64: [String?]] = [:]
    /// The present version.
    private let index: PresentIndex
    /// Reads the present version.
    private let reader: NodeReader

    /// The most leaves of the present version whose keys are kept.
    private static let maximumLeaves = 2048

    /// Makes a book that knows the present version.
    init(_ index: PresentIndex, reader: NodeReader) {
        self.index = index
        self.reader = reader
    }

    /// Notes the key of an object, which is proved.
    func add(_ key: String, _ place: ObjectPlace) {
        guard let known = sure[place] else {
            sure[place] = key
            return
        }
        guard known != key, contradictions[place]?.contains(key) != true else { return }
        contradictions[place, default: []].append(key)
    }

    /// Returns the keys that an object has according to leaves that are sure; several contradict each other.
    func keys(_ place: ObjectPlace) -> [String] {
        var keys = sure[place].map { [$0] } ?? []
        keys += contradictions[place] ?? []
        if let present = presentKey(place), !keys.contains(present) { keys.append(present) }
        return keys
    }

    /// Returns the key of an object of the present version; nil for none.
    private func presentKey(_ place: ObjectPlace) -> String? {
        guard let row = index.row(place), let column = row.rows.table.primaryKey else { return nil }
        let leaf = row.rows.node.ref
        if presentKeys[leaf] == nil {
            if presentKeys.count >= KeyBook.maximumLeaves { presentKeys.removeAll() }
            presentKeys[leaf] = KeyBook.keys(of: row.rows, column, reader)
        }
        return presentKeys[leaf]?[row.index]
    }

    /// Returns the primary keys of the rows of a leaf; nil for those that are lost.
    static func keys(of rows: LeafRows, _ column: FormerColumn, _ reader: NodeReader) -> [String?] {
        let isKey = [.int, .string, .objectID, .uuid].contains(column.kind) && !column.isCollection
        guard isKey else { return [String?](repeating: nil, count: rows.count) }
        return reader.cells(column, rows).map { cell in
            if case .value(let value) = cell { ValueText.key(value) } else { nil }
        }
    }
}
