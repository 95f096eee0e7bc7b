// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks properties of leaves that readers ignore because their violation does them no harm, but
/// that every writer maintains and relies on.
struct LeafCheck {
    /// Checks one leaf.
    ///
    /// - Throws: `.corrupt` for the first violation.
    ///
    /// The properties are these: booleans are 0, 1 or 3; the texts of short cells are padded with zeros; the values of medium
    /// leaves follow each other; every payload of a Mixed leaf belongs to one value.
    static func run(_ leaf: ColumnLeaf) throws(StorageError) {
        switch leaf {
        case .bool(let flags): try check(flags)
        case .string(let strings): try check(strings)
        case .binary(let binaries): try binaries.medium?.requireOrder()
        case .mixed(let values): try check(values)
        default: break
        }
    }

    /// Checks the names of tables and columns, which are stored in leaves of short strings too.
    ///
    /// - Throws: `.corrupt` for the first violation.
    static func checkNames(_ snapshot: Snapshot) throws(StorageError) {
        if !snapshot.top.names.isNone { try checkPadding(try snapshot.space.node(at: snapshot.top.names)) }
        for table in snapshot.tables {
            let spec = try snapshot.space.node(at: try snapshot.space.node(at: table.ref).requiredRef(0, "spec"))
            try checkPadding(try snapshot.space.node(at: try spec.requiredRef(1, "column names")))
        }
    }

    /// Checks booleans for elements that no writer makes.
    private static func check(_ leaf: BoolLeaf) throws(StorageError) {
        for row in 0..<leaf.count where ![0, 1, 3].contains(leaf.elements[row]) {
            throw .corrupt(ref: .none, reason: "a boolean is stored as \(leaf.elements[row])")
        }
    }

    /// Checks texts for cells with wrong padding and for values outside of their bytes.
    private static func check(_ leaf: StringLeaf) throws(StorageError) {
        switch leaf.form {
        case .short(let node): try checkPadding(node)
        case .medium(let blobs): try blobs.requireOrder()
        case .big, .enumerated: break
        }
    }

    /// Checks that zeros follow each text in its cell, as writers compare cells as numbers.
    private static func checkPadding(_ node: Node) throws(StorageError) {
        let width = node.width
        guard width > 1 else { return }
        let bytes = node.bytes
        for row in 0..<node.count {
            let padding = StringLeaf.padding(node, row)
            guard padding < width else { continue }
            let end = (row + 1) * width - 1
            for offset in end - padding..<end where bytes[offset] != 0 {
                throw node.corrupt("string \(row) is not padded with zeros")
            }
        }
    }

    /// Checks that every payload belongs to one value, as writers move and remove it with that value.
    private static func check(_ leaf: MixedLeaf) throws(StorageError) {
        var known: Set<Int64> = []
        for row in 0..<leaf.count {
            let word = leaf.words[row]
            // Type and value may differ where the slot and the index in it are the same.
            guard MixedEntry.slot(ofWord: word) != MixedEntry.Slot.words, !known.insert(word & ~0x1f).inserted else { continue }
            throw .corrupt(ref: .none, reason: "value \(row) of a mixed leaf shares its payload with another")
        }
        if let strings = try leaf.strings() { try check(strings) }
    }
}

/// A check of medium leaves that only whole-file verification makes.
extension MediumBlobs {
    /// Checks that every value, null or not, ends where the one before it ends, or later, and inside the bytes.
    ///
    /// - Throws: `.corrupt` with the first value that does not.
    func requireOrder() throws(StorageError) {
        var previous: Int64 = 0
        for row in 0..<count {
            guard ends[row] >= previous, ends[row] <= Int64(bytes.count) else {
                throw corruptEnd(row)
            }
            previous = ends[row]
        }
    }
}
