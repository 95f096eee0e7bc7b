// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes leaves of strings: short cells, medium, big, or positions in the column's list of distinct strings.
///
/// A leaf moves to a larger form when a string needs it and never back. Source: docs/format.md, "String".
struct StringLeafForm: LeafForm {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// Whether the column or collection may have nulls.
    let isNullable: Bool
    /// The writer of the list of distinct strings of an enumerated column; nil for all others.
    let enumeration: EnumerationWriter?

    /// The longest strings in bytes that leaves of short cells and medium leaves may hold.
    private static let shortLimit = 15, mediumLimit = 63

    /// The forms in the order in which a leaf grows from one to the next.
    enum Form: Int {
        /// Positions in the list of distinct texts.
        case enumerated = -1
        /// Cells, one byte node, or one byte node for each text.
        case short, medium, big
    }

    /// The writer of the medium and the big form.
    private var blobs: BlobNodes { BlobNodes(writes: writes, isText: true) }

    /// Null where that is allowed, else an empty text.
    var defaultValue: Value { isNullable ? .null : .string(.empty) }

    /// Makes a leaf of short cells; in an enumerated column whose list has the default value, one of positions in that list.
    func makeDefaults(count: Int) throws(StorageError) -> Ref {
        guard let enumeration else { return try writes.makeNode(.elements, widthCode: isNullable ? 0 : 1, count: count).ref }
        guard count > 0 else { return try writes.makeNode(.integers).ref }
        guard let position = try enumeration.position(of: isNullable ? nil : .empty) else {
            return try writes.makeNode(.elements, widthCode: isNullable ? 0 : 1, count: count).ref
        }
        return try writes.makeIntegers(repeatElement(position, count: count)).ref
    }

    func count(_ leaf: Ref) throws(StorageError) -> Int {
        let node = try writes.node(at: leaf)
        return node.hasRefs ? try blobs.count(leaf) : node.count
    }

    /// Inserts a text or null before `row`, and returns the new ref of the leaf, which moves to a larger
    /// form if the text needs one.
    ///
    /// - Throws: `.limit` for a value of another type or a string of more than 16 MiB, `.corrupt` for a
    ///   row outside the leaf.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try insert(try bytes(value), at: row, in: leaf)
    }

    /// Inserts a string before `row`; nil is null. The leaf moves to a larger form if the string needs one.
    ///
    /// - Returns: The new ref of the leaf.
    /// - Throws: `.limit` for a string of more than 16 MiB, `.corrupt` for a row outside the leaf.
    func insert(_ bytes: ByteView?, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try blobs.requireFit(bytes)
        let (leaf, form) = try prepare(leaf, for: bytes)
        switch form {
        case .enumerated:
            var node = try writes.writableIntegers(leaf)
            try node.requireRow(row, below: node.count + 1)
            try node.insert(try position(bytes, node), at: row)
            return node.ref
        case .short:
            var node = try writes.writableElements(leaf)
            try node.requireRow(row, below: node.count + 1)
            try ShortStrings.replace(in: &node, at: row, removing: 0, with: bytes, writes)
            return node.ref
        case .medium, .big: return try blobs.insert(bytes, at: row, in: leaf)
        }
    }

    /// Adds texts and nulls; the leaf moves to a larger form at most once.
    ///
    /// - Throws: `.limit` for a value of another type or a string of more than 16 MiB.
    func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        // Each text of an enumerated column may add to the list of distinct strings.
        guard enumeration == nil else { return try appendEach(values, to: leaf) }
        let standard = try bytes(defaultValue)
        var strings: [ByteView?] = []
        strings.reserveCapacity(values.count)
        var longest: ByteView?
        for value in values {
            let string = if let value { try bytes(value) } else { standard }
            try blobs.requireFit(string)
            if let string, string.count >= longest?.count ?? 0 { longest = string }
            strings.append(string)
        }
        let (leaf, form) = try prepare(leaf, for: longest)
        guard form == .short else { return try blobs.append(contentsOf: strings, to: leaf) }
        var node = try writes.writableElements(leaf)
        try ShortStrings.append(strings, longest: longest?.count ?? 0, to: &node, writes)
        return node.ref
    }

    /// Replaces the value in `row` by a text or null, and returns the new ref of the leaf, which moves to
    /// a larger form if the text needs one.
    ///
    /// - Throws: `.limit` for a value of another type or a string of more than 16 MiB, `.corrupt` for a
    ///   row outside the leaf.
    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try set(try bytes(value), at: row, in: leaf)
    }

    /// Replaces the string in `row`; nil is null. The leaf moves to a larger form if the new string needs one.
    ///
    /// - Returns: The new ref of the leaf.
    /// - Throws: `.limit` for a string of more than 16 MiB, `.corrupt` for a row outside the leaf.
    func set(_ bytes: ByteView?, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try blobs.requireFit(bytes)
        let (leaf, form) = try prepare(leaf, for: bytes)
        switch form {
        case .enumerated:
            var node = try writes.writableIntegers(leaf)
            try node.requireRow(row)
            try node.set(row, try position(bytes, node))
            return node.ref
        case .short:
            var node = try writes.writableElements(leaf)
            try node.requireRow(row)
            try ShortStrings.replace(in: &node, at: row, removing: 1, with: bytes, writes)
            return node.ref
        case .medium, .big: return try blobs.set(bytes, at: row, in: leaf)
        }
    }

    /// Removes the string in `row`. The list of distinct strings keeps it.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writes.writable(leaf)
        let form = try form(of: node.node)
        if node.hasRefs { return try blobs.erase(row, in: node.ref) }
        try node.requireRow(row)
        if form == .enumerated {
            node.removeInteger(at: row)
        } else {
            try node.replaceElements(at: row, removing: 1, inserting: 0)
        }
        return node.ref
    }

    /// Moves the strings from `row` on to a new leaf of the same form.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var node = try writes.writable(leaf)
        let form = try form(of: node.node)
        if node.hasRefs { return try blobs.split(node.ref, at: row) }
        try node.requireRow(row, below: node.count + 1)
        let tail: Ref
        if form == .enumerated {
            tail = try writes.makeTail(of: node, from: row).ref
            node.truncateIntegers(to: row)
        } else {
            tail = try writes.splitElements(&node, at: row)
        }
        return (node.ref, tail)
    }

    /// Appends the strings of `next`: refs of big leaves and positions in the list are moved, all others are copied one by one.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref {
        let head = try writes.node(at: leaf)
        let other = try writes.node(at: next)
        switch (try form(of: head), try form(of: other)) {
        case (.big, .big): return try blobs.joinBig(leaf, with: other)
        case (_, .big): return try blobs.joinBig(try convert(head, to: .big), with: other)
        case (.enumerated, .enumerated):
            return try IntegerLeafForm(writes: writes, coding: .int).join(leaf, with: next)
        default: break
        }
        var leaf = leaf
        let strings = try view(other)
        for row in 0..<strings.count { leaf = try insert(try strings.string(row), at: try count(leaf), in: leaf) }
        try writes.discardTree(next)
        return leaf
    }

    // MARK: - Forms

    /// Attaches the leaf at `node` for reading.
    func view(_ node: Node) throws(StorageError) -> StringLeaf {
        try StringLeaf(node, writes.space, enumeration: enumeration?.strings)
    }

    /// Returns the form that the header states; throws `.corrupt` for a node that is not a leaf of strings.
    private func form(of node: Node) throws(StorageError) -> Form {
        guard !node.isInner, node.widthType != Node.WidthType.ignore.rawValue else { throw node.corrupt("string leaf expected") }
        try node.requireSensibleCount()
        if node.hasRefs { return blobs.isBig(node) ? .big : .medium }
        return node.widthType == Node.WidthType.multiply.rawValue ? .short : .enumerated
    }

    /// Removes the string in `row` by moving the last one into its place.
    ///
    /// - Returns: The new ref of the leaf, and the former row of the string that was moved.
    func eraseByMovingLast(_ row: Int, in leaf: Ref) throws(StorageError) -> (leaf: Ref, last: Int) {
        let node = try writes.node(at: leaf)
        let last = try count(leaf) - 1
        try node.requireRow(row, below: last + 1)
        guard row != last else { return (try erase(last, in: leaf), last) }
        if try form(of: node) == .big { return (try blobs.eraseByMovingLast(row, in: leaf), last) }
        // The bytes are copied, because the value is moved within its leaf.
        let moved = try view(node).string(last).map { ByteStorage($0.array) }
        return (try erase(last, in: try set(moved?.view, at: row, in: leaf)), last)
    }

    /// Converts the leaf to a larger form if `bytes` is longer than the present one may hold, or is
    /// not in a list that cannot grow.
    ///
    /// - Returns: The leaf, and the form that it has.
    private func prepare(_ leaf: Ref, for bytes: ByteView?) throws(StorageError) -> (Ref, Form) {
        let node = try writes.node(at: leaf)
        let present = try form(of: node)
        let length = bytes?.count ?? 0
        if present == .enumerated {
            guard let enumeration else { throw StringLeaf.listMissing(node) }
            if try enumeration.accepts(bytes) { return (leaf, present) }
        }
        let needed: Form = length <= StringLeafForm.shortLimit ? .short : length <= StringLeafForm.mediumLimit ? .medium : .big
        guard needed.rawValue > present.rawValue else { return (leaf, present) }
        return (try convert(node, to: needed), needed)
    }

    /// Rebuilds the leaf in `form`, or a larger one if a string needs it, and gives the old one up.
    private func convert(_ node: Node, to form: Form) throws(StorageError) -> Ref {
        let strings = try view(node)
        var leaf: Ref
        switch form {
        case .big: leaf = try blobs.makeBig()
        case .medium: leaf = try blobs.makeMedium(emptyValues: 0, areNull: false)
        case .short, .enumerated: leaf = try writes.makeNode(.elements).ref
        }
        for row in 0..<strings.count { leaf = try insert(try strings.string(row), at: row, in: leaf) }
        try writes.discardTree(node.ref)
        return leaf
    }

    /// Returns the position of a text in the column's list, which is extended if the text is new.
    private func position(_ bytes: ByteView?, _ node: MutableNode) throws(StorageError) -> Int64 {
        guard let enumeration else { throw StringLeaf.listMissing(node.node) }
        return try enumeration.addedPosition(of: bytes)
    }

    /// Returns the bytes of a value, nil for null; throws `.limit` for another type.
    private func bytes(_ value: Value) throws(StorageError) -> ByteView? {
        switch value {
        case .string(let bytes): return bytes
        case .null where isNullable: return nil
        default: throw misfit("a string")
        }
    }
}
