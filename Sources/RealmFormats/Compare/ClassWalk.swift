// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds the objects of a class that differ, in the order of their object keys.
struct ClassWalk {
    /// The number of objects that are compared at a time, where leaves differ in their keys.
    private static let step = 256

    private let objectClass: ComparedClass
    private let comparison: RowComparison
    private let matches: ContentMatches?
    private var old: RowWalk?
    private var new: RowWalk?

    /// Begins with a class.
    ///
    /// - Parameter matches: The objects that are the same by their contents; nil where none are.
    init(_ objectClass: ComparedClass, _ comparison: RowComparison, _ matches: ContentMatches?) throws(StorageError) {
        self.objectClass = objectClass
        self.comparison = comparison
        self.matches = matches
        if let table = objectClass.oldTable { old = try RowWalk(table) }
        if let table = objectClass.newTable { new = try RowWalk(table) }
    }

    /// Returns the next objects that differ, which may be none; nil at the end.
    ///
    /// - Throws: An error of storage, or of a budget that is used up.
    mutating func next() throws(StorageError) -> [ObjectDifference]? {
        guard old?.row != nil || new?.row != nil else { return nil }
        if let found = try leaves() { return found }
        var found: [ObjectDifference] = []
        for _ in 0..<ClassWalk.step {
            guard old?.row != nil || new?.row != nil else { break }
            try compareNext(&found)
            if old?.wholeLeaf != nil, new?.wholeLeaf != nil { break }
        }
        return found
    }

    /// Compares two leaves with the same objects; nil where the walks are not at such leaves.
    private mutating func leaves() throws(StorageError) -> [ObjectDifference]? {
        guard let left = old?.wholeLeaf, let right = new?.wholeLeaf, objectClass.identity != .contents,
            left.hasSameKeys(as: right), try havePrimaryKeys(left, right)
        else { return nil }
        let changes = try comparison.changes(of: objectClass, left, right)
        try old?.skipLeaf()
        try new?.skipLeaf()
        return changes.keys.sorted().map { row in
            ObjectDifference(
                objectClass, Row(leaf: left, index: row), Row(leaf: right, index: row), positions: changes[row] ?? [])
        }
    }

    /// Returns whether the objects of two leaves with the same keys have the same primary keys, if they are identified by them.
    private func havePrimaryKeys(_ left: ClusterLeaf, _ right: ClusterLeaf) throws(StorageError) -> Bool {
        guard objectClass.identity == .primaryKey else { return true }
        guard let before = old?.table.primaryKey, let after = new?.table.primaryKey else { return false }
        let (keys, others) = (try left.attach(before), try right.attach(after))
        for row in 0..<left.count where try !keys.value(row).isIdentical(to: try others.value(row)) { return false }
        return true
    }

    /// Compares the next object of one walk, or of both if it is the same.
    private mutating func compareNext(_ found: inout [ObjectDifference]) throws(StorageError) {
        let (left, right) = (old?.row, new?.row)
        if let left, let right, left.key == right.key {
            if try areSame(left, right) {
                try compare(left, right, &found)
            } else {
                try leave(left, &found)
                try meet(right, &found)
            }
            try old?.skip()
            try new?.skip()
        } else if let left, right.map({ left.key.isBefore($0.key) }) ?? true {
            try leave(left, &found)
            try old?.skip()
        } else if let right {
            try meet(right, &found)
            try new?.skip()
        }
    }

    /// Returns whether two objects with the same object key are the same.
    private func areSame(_ left: Row, _ right: Row) throws(StorageError) -> Bool {
        switch objectClass.identity {
        case .objectKey: return true
        case .contents: return false
        case .primaryKey:
            guard let before = old?.table.primaryKey, let after = new?.table.primaryKey else { return false }
            return try left.value(before).isIdentical(to: try right.value(after))
        }
    }

    private func compare(_ left: Row, _ right: Row, _ found: inout [ObjectDifference]) throws(StorageError) {
        let positions = try comparison.changes(of: objectClass, left, right)
        if !positions.isEmpty { found.append(ObjectDifference(objectClass, left, right, positions: positions)) }
    }

    /// Finds an object of the earlier version elsewhere in the later one, or adds it as removed.
    private func leave(_ row: Row, _ found: inout [ObjectDifference]) throws(StorageError) {
        switch objectClass.identity {
        case .objectKey: break
        case .contents: if matches?.isMatchedInOld(objectClass, row.key) ?? false { return }
        case .primaryKey:
            if let column = old?.table.primaryKey, objectClass.newTable != nil,
                let other = try objectClass.newFinder?.find(try row.value(column))
            {
                return try compare(row, other, &found)
            }
        }
        found.append(ObjectDifference(objectClass, old: row))
    }

    /// Adds an object of the later version, unless it is in the earlier one, from where it is found.
    private func meet(_ row: Row, _ found: inout [ObjectDifference]) throws(StorageError) {
        switch objectClass.identity {
        case .objectKey: break
        case .contents: if matches?.isMatchedInNew(objectClass, row.key) ?? false { return }
        case .primaryKey:
            if let column = new?.table.primaryKey, objectClass.oldTable != nil,
                try objectClass.oldFinder?.find(try row.value(column)) != nil
            {
                return
            }
        }
        found.append(ObjectDifference(objectClass, new: row))
    }
}
