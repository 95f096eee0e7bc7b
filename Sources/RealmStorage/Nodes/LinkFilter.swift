// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Hides links from readers of a space of nodes: those to objects that a view of a version hides.
///
/// A hidden link reads as a link to nothing, wherever it is stored, so that everything that reads links treats it as
/// it treats links to deleted objects: it is null as a value, and left out of lists, sets and incoming links. Leaves of
/// links are packed numbers that kernels read in place; a leaf with hidden links is therefore copied without them,
/// once for a view, and the copy lives as long as the view does.
package final class LinkFilter: Sendable {
    /// The copies of leaves, by the ref of the leaf, guarded by the lock.
    private struct Copies {
        /// The copied elements of 64 bits; nil for a leaf of which nothing is hidden.
        var elements: [Ref: ByteStorage?] = [:]
        /// How many bytes the copies have together.
        var byteCount = 0
    }

    /// Decides which objects are visible.
    package typealias Test = @Sendable (_ table: TableKey, _ key: ObjectKey) throws(StorageError) -> Bool

    /// The tables of which all objects can be seen. Links to them are read in place.
    private let open: Set<TableKey>
    /// Returns whether an object of another table is visible.
    private let isVisible: Test
    /// The greatest number of bytes that all copies may have.
    private let byteLimit: Int
    /// The copies that were made so far, for any thread that reads the view.
    private let copies = RankedMutex(.leaf, Copies())

    /// Makes a filter.
    ///
    /// - Parameters:
    ///   - open: The tables of which all objects can be seen.
    ///   - byteLimit: The greatest number of bytes that copies of leaves may have. Beyond it, reading another leaf with hidden
    ///     links is an error.
    ///   - isVisible: Returns whether an object of any other table is visible. It is called under no lock.
    package init(open: Set<TableKey>, byteLimit: Int = 256 << 20, isVisible: @escaping Test) {
        self.open = open
        self.byteLimit = byteLimit
        self.isVisible = isVisible
    }

    /// Returns whether links to a table may be hidden.
    package func mayHide(_ table: TableKey) -> Bool { !open.contains(table) }

    /// Returns whether a link is hidden.
    ///
    /// - Throws: Errors of the test, such as those of damaged files.
    package func hides(_ table: TableKey, _ key: ObjectKey) throws(StorageError) -> Bool {
        guard !open.contains(table), key.rawValue >= 0 else { return false }
        return try !isVisible(table, key)
    }

    /// Returns the elements of a leaf of links, with hidden ones replaced by links to nothing.
    ///
    /// - Parameters:
    ///   - ref: The leaf.
    ///   - table: The table that the links lead to.
    ///   - shift: The offset of stored keys.
    /// - Returns: `elements` when none is hidden, otherwise a copy that lives as long as this filter.
    func visible(
        _ elements: PackedIntegers, of ref: Ref, to table: TableKey, shift: Int64
    ) throws(StorageError) -> PackedIntegers {
        guard !open.contains(table), elements.count > 0 else { return elements }
        if let known = copies.withLock({ $0.elements[ref] }) {
            return known.map { PackedIntegers(words: $0.view) } ?? elements
        }
        var words: [Int64] = []
        var hidesAny = false
        for index in 0..<elements.count {
            let stored = elements[index]
            let isHidden = try hides(table, ObjectKey(stored &- shift))
            hidesAny = hidesAny || isHidden
            words.append(isHidden ? ObjectKey.null.rawValue &+ shift : stored)
        }
        return try keep(hidesAny ? words : nil, for: ref).map { PackedIntegers(words: $0.view) } ?? elements
    }

    /// Keeps the copy of a leaf, or that it needs none, and returns the one that is kept.
    private func keep(_ words: [Int64]?, for ref: Ref) throws(StorageError) -> ByteStorage? {
        let copy = words.map { words in
            ByteStorage(words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> Int64($0 * 8)) } })
        }
        let isKept = copies.withLock { copies -> Bool in
            if copies.elements[ref] != nil { return true }
            guard copies.byteCount + (copy?.view.count ?? 0) <= byteLimit else { return false }
            copies.byteCount += copy?.view.count ?? 0
            copies.elements[ref] = .some(copy)
            return true
        }
        guard isKept else { throw .stopped(.noRoom(limit: byteLimit, ofPrincipal: false)) }
        return copies.withLock { $0.elements[ref] ?? copy }
    }

    /// Returns those of some objects that are visible.
    func visible(_ keys: [ObjectKey], of table: TableKey) throws(StorageError) -> [ObjectKey] {
        guard !open.contains(table) else { return keys }
        var visible: [ObjectKey] = []
        for key in keys where try !hides(table, key) { visible.append(key) }
        return visible
    }
}
