// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Changes nodes of integers whose element 0 is the null marker: a value equal to it is null.
///
/// Below 64 bits the marker is the largest number of the width, and all values are smaller. With 64 bits it is any number that
/// is not a value. Seconds of dates are stored in such nodes too. Source: docs/format.md, "Int".
struct NullableIntegers {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace

    /// Makes a leaf of `count` equal values and returns its ref.
    ///
    /// - Parameters:
    ///   - count: How many values there are, the null marker not counted.
    ///   - value: The value of all of them; nil is null.
    func make(count: Int, _ value: Int64?) throws(StorageError) -> Ref {
        guard let value, count > 0 else { return try writes.makeNode(.integers, count: count + 1).ref }
        let code = NullableIntegers.widthCode(for: value)
        var node = try writes.makeNode(.integers, widthCode: code, count: count + 1)
        try node.set(0, code == 7 && value == .max ? .min : NullableIntegers.maximum(code))
        if value != 0 { for row in 1...count { try node.set(row, value) } }
        return node.ref
    }

    /// Returns how many values a leaf has, the null marker not counted; throws `.corrupt` when it lacks the marker.
    func count(_ leaf: Ref) throws(StorageError) -> Int {
        let node = try writes.integerNode(leaf)
        try IntLeaf.requireMarker(node)
        return node.count - 1
    }

    /// Inserts a value at `row` and returns the new ref of the leaf. The null marker changes when the value would equal it.
    ///
    /// - Parameters:
    ///   - value: The value; nil is null.
    ///   - row: The new row, `0...count`.
    ///   - leaf: The leaf, whose ref must not be used any more.
    func insert(_ value: Int64?, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count)
        if let value { try makeRoom(for: value, in: &node) }
        try node.insert(value ?? node.integer(0), at: row + 1)
        return node.ref
    }

    /// Adds values at the end and returns the new ref of the leaf, whose null marker changes at most once unless it has 64 bits.
    ///
    /// - Parameters:
    ///   - values: The values; nil is null.
    ///   - leaf: The leaf, whose ref must not be used any more.
    func append(contentsOf values: [Int64?], to leaf: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        var widest: Int64?
        for case let value? in values
        where widest.map({ NullableIntegers.widthCode(for: value) > NullableIntegers.widthCode(for: $0) }) ?? true {
            widest = value
        }
        if let widest { try makeRoom(for: widest, in: &node) }
        guard node.widthCode < 7 else {
            for value in values {
                if let value { try makeRoom(for: value, in: &node) }
                try node.append(value ?? node.integer(0))
            }
            return node.ref
        }
        let marker = node.integer(0)
        try node.append(contentsOf: values.map { $0 ?? marker })
        return node.ref
    }

    /// Replaces the value in `row` and returns the new ref of the leaf. The null marker changes when the value would equal it.
    ///
    /// - Parameters:
    ///   - value: The new value; nil is null.
    ///   - row: A row in `0..<count`.
    ///   - leaf: The leaf, whose ref must not be used any more.
    func set(_ value: Int64?, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count - 1)
        if let value { try makeRoom(for: value, in: &node) }
        try node.set(row + 1, value ?? node.integer(0))
        return node.ref
    }

    /// Removes the value in `row` and returns the new ref of the leaf.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count - 1)
        node.removeInteger(at: row + 1)
        return node.ref
    }

    /// Moves the values from `row` on to a new leaf, which has the same null marker, and returns both leaves.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count)
        var tail = try writes.makeTail(of: node, from: row + 1, front: 1)
        try tail.set(0, node.integer(0))
        node.truncateIntegers(to: row + 1)
        return (node.ref, tail.ref)
    }

    /// Appends the values of `next`, whose node is discarded, and returns the new ref of the leaf.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        let other = try IntLeaf(try writes.integerNode(next), isNullable: true)
        for row in 0..<other.count {
            let value = other.integer(row)
            if let value { try makeRoom(for: value, in: &node) }
            try node.append(value ?? node.integer(0))
        }
        try writes.discard(next)
        return node.ref
    }

    // MARK: - The marker

    /// Makes the leaf ready to be changed; throws `.corrupt` when it lacks its null marker.
    private func writable(_ leaf: Ref) throws(StorageError) -> MutableNode {
        let node = try writes.writableIntegers(leaf)
        try IntLeaf.requireMarker(node.node)
        return node
    }

    /// Returns the largest number that elements of a width code can hold, which is the marker of that width.
    private static func maximum(_ code: Int) -> Int64 {
        code < 4 ? (1 << Int64((1 << code) >> 1)) - 1 : Int64.max >> Int64(64 - (1 << code) >> 1)
    }

    /// Returns the code of the smallest width in which `value` is below the null marker.
    static func widthCode(for value: Int64) -> Int {
        IntegerForm.signed.widthCode(for: value < 0 || value == .max ? value : value + 1)
    }

    /// Widens the node, and changes its null marker, so that `value` can be stored without being read as null.
    private func makeRoom(for value: Int64, in node: inout MutableNode) throws(StorageError) {
        let marker = node.integer(0)
        let needed = NullableIntegers.widthCode(for: value)
        if node.widthCode == 7 {
            if value == marker { try replaceMarker(in: &node, NullableIntegers.unusedNumber(in: node, value)) }
            return
        }
        let isUsual = marker == NullableIntegers.maximum(node.widthCode)
        if isUsual, needed <= node.widthCode { return }
        var code = max(needed, node.widthCode)
        if !isUsual { code = NullableIntegers.widthCode(of: node, code) }
        try node.widen(toCode: code)
        let next = code == 7 ? NullableIntegers.unusedNumber(in: node, value) : NullableIntegers.maximum(code)
        try replaceMarker(in: &node, next)
    }

    /// Returns the code of the width that the values of a node need whose marker is not the largest number of its width.
    private static func widthCode(of node: MutableNode, _ least: Int) -> Int {
        let marker = node.integer(0)
        var code = least
        for index in 1..<max(node.count, 1) where node.integer(index) != marker {
            code = max(code, widthCode(for: node.integer(index)))
        }
        return code
    }

    /// Changes the null marker, and every null with it.
    private func replaceMarker(in node: inout MutableNode, _ new: Int64) throws(StorageError) {
        let old = node.integer(0)
        guard new != old else { return }
        for index in 0..<node.count where node.integer(index) == old { try node.set(index, new) }
    }

    /// Returns a number that is neither `value` nor in the node, for the null marker of a node of 64 bits.
    private static func unusedNumber(in node: MutableNode, _ value: Int64) -> Int64 {
        var candidate = Int64.max
        // This ends soon, as a node has far fewer elements than there are numbers of 64 bits.
        while candidate == value || (0..<node.count).contains(where: { node.integer($0) == candidate }) {
            candidate = .random(in: .min ... .max)
        }
        return candidate
    }
}
