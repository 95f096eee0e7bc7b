// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Proves that an index is sound without looking each object up, or keeping words, which is what the exact checks do.
///
/// The nodes of the index are read in their order. For each object that is filed under a value, a hash of the object and its keys
/// is added to a sum, and the number of keys is recorded, unless it is the usual one. Then the column is read in the order of
/// objects, and the same hashes, made of the values, are subtracted. The rest is zero only if each object is filed once, under
/// its own value. Of indexes of words, the hashes of all pairs of an object and a word are compared in this way. Nothing is
/// reported: where anything is unusual, nothing is proved, and the exact check reports it.
struct IndexProof {
    /// The facts that a proof yields.
    struct Result {
        /// How many objects the index has.
        let entryCount: Int
        /// Whether no two objects have the same data.
        let isUnique: Bool
    }

    /// How an object is filed, in one byte: the number of keys of a single object, or one of these.
    enum Note {
        /// As most objects are.
        static let usual: UInt8 = 0
        /// In a list whose objects have the same data, of which the sum has all.
        static let list: UInt8 = 255
        /// In a list that was compared object by object.
        static let compared: UInt8 = 254
    }

    /// The table of the column.
    let table: Table
    let column: Column
    /// The keys under which objects are filed.
    private let form: IndexForm
    /// The keys of the objects, which have slots.
    private let keys: VerifiedKeys
    /// The hash of data.
    let hash: ProofHash
    /// Can cancel the proof; nil for none.
    let control: WorkControl?
    /// The nodes that may be visited before the index counts as circular.
    let budget: WalkBudget
    /// Whether there are slots, and not more than an index can have objects.
    private let isPossible: Bool
    /// How most objects are filed; `Note.usual` where nothing is.
    private var usual = Note.usual
    /// How each of the other objects is filed, by slot; empty as long as there are none.
    private var notes: [UInt8] = []
    /// The hashes of filed objects, less those of the values.
    var sum = ProofSum()
    /// The keys from the root down to the present level.
    private(set) var path: [Int32] = []
    /// How many objects were found in entries so far.
    var entryCount = 0
    /// Whether no list has several objects.
    private var isUnique = true

    /// Makes a proof of one index.
    ///
    /// - Parameters:
    ///   - form: The keys under which objects are filed.
    ///   - keys: The keys of the table's objects.
    ///   - hash: The hash of data.
    ///   - control: Can cancel the proof; nil for none.
    init(
        _ table: Table, _ column: Column, _ form: IndexForm, keys: VerifiedKeys, hash: ProofHash,
        _ control: WorkControl? = nil
    ) {
        self.control = control
        self.table = table
        self.column = column
        self.form = form
        self.keys = keys
        self.hash = hash
        budget = WalkBudget(table.space)
        // An index has more bytes than objects, so no more of these than the file has are of any use.
        isPossible = keys.hasSlots && UInt64(keys.slotCount) <= table.space.limit
    }

    /// Returns what is proved about an index; nil for one that the exact check has to look at.
    ///
    /// - Complexity: O(objects), with a byte of memory for each.
    consuming func run() -> Result? {
        guard isPossible else { return nil }
        var proof = self
        do throws(StorageError) {
            try proof.walk()
            switch proof.form {
            case .values: try proof.scan()
            case .words: try proof.scanTexts()
            case .elements: try proof.scanElements()
            }
        } catch { return nil }
        return proof.sum.isZero ? Result(entryCount: proof.entryCount, isUnique: proof.isUnique) : nil
    }

    /// Makes the error that ends a proof. It is never reported.
    func doubt(_ ref: Ref) -> StorageError { .corrupt(ref: ref, reason: "nothing is proved") }

    // MARK: - The index

    /// Reads the whole index; throws at the first thing that is not as in a sound one.
    private mutating func walk() throws(StorageError) {
        let root = try IndexNode(column.searchIndex, table.space)
        if root.count == 0, !root.isInner, IndexWalker.hasSoundKeys(root) { return }
        if form == .values { usual = try IndexSurvey.usualNote(of: column.searchIndex, table.space) }
        _ = try level(column.searchIndex, depth: 0, above: .min, state: hash.start)
    }

    /// Reads the nodes of a level below one of them.
    ///
    /// - Parameters:
    ///   - ref: The node.
    ///   - depth: The number of nodes above it.
    ///   - lower: A number that all keys of the node are above, as it is the last key before them.
    ///   - state: The state of the hash after the keys of the levels above.
    /// - Returns: The largest key.
    private mutating func level(_ ref: Ref, depth: Int, above lower: Int64, state: UInt64) throws(StorageError) -> Int32 {
        try budget.spend(at: ref)
        try control?.check()
        let node = try IndexNode(ref, table.space)
        guard depth < IndexWalker.maximumDepth, node.count > 0, IndexWalker.hasSoundKeys(node), Int64(node.key(0)) > lower else {
            throw doubt(ref)
        }
        guard node.isInner else {
            for position in 0..<node.count { try entry(position, of: node, depth: depth, state: state) }
            return node.key(node.count - 1)
        }
        var last = lower
        for position in 0..<node.count {
            let key = try level(try node.child(position), depth: depth + 1, above: last, state: state)
            guard key == node.key(position) else { throw doubt(ref) }
            last = Int64(key)
        }
        return node.key(node.count - 1)
    }

    /// Reads what is filed under one key of a level.
    @inline(__always)
    private mutating func entry(_ position: Int, of node: IndexNode, depth: Int, state: UInt64) throws(StorageError) {
        let key = node.key(position)
        let state = hash.step(state, Int64(key))
        switch try node.slot(position) {
        case .absent: throw doubt(node.node.ref)
        case .one(let object) where form == .values:
            let note = UInt8(truncatingIfNeeded: path.count + 1)
            if note != usual { try self.note(object, note, node.node.ref) }
            entryCount &+= 1
            sum.add(hash.step(state, object.rawValue), hash)
        case .one(let object):
            addWord(endingWith: path + [key], of: object)
        case .list(let ref):
            path.append(key)
            if form == .values { try list(ref) } else { try listOfWord(ref) }
            path.removeLast()
        case .subindex(let ref):
            path.append(key)
            guard path.count * 4 <= IndexData.maximumOffset else { throw doubt(ref) }
            _ = try level(ref, depth: depth + 1, above: .min, state: state)
            path.removeLast()
        }
    }

    /// Notes how an object is filed that is not filed as most are; throws for one that does not exist, or was noted before.
    private mutating func note(_ object: ObjectKey, _ note: UInt8, _ ref: Ref) throws(StorageError) {
        if notes.isEmpty { notes = [UInt8](repeating: Note.usual, count: keys.slotCount) }
        guard let slot = keys.slot(of: object), notes[slot] == Note.usual else { throw doubt(ref) }
        notes[slot] = note
    }

    // MARK: - Lists

    /// The way to prove that the objects of a list belong there.
    private enum Way {
        /// By a hash of the whole data that all of them must have.
        case together(state: UInt64)
        /// One by one, each with its value and the one before it.
        case singly
    }

    /// Reads a list of objects.
    private mutating func list(_ ref: Ref) throws(StorageError) {
        let tree = try BPlusTree(root: ref, space: table.space, shape: SearchIndex.listShape)
        var way: Way?
        var previous = ObjectKey.null
        var last: Value?
        var count = 0
        var cursor = tree.leaves(within: budget)
        while let (leaf, _) = try cursor.next() {
            try control?.check()
            guard case .int(let integers) = leaf else { throw doubt(ref) }
            for row in 0..<integers.count {
                let object = ObjectKey(integers.elements[row])
                if way == nil { way = try self.way(ofListWith: object, ref) }
                if case .together(let state)? = way {
                    guard object > previous else { throw doubt(ref) }
                    if usual != Note.list { try note(object, Note.list, ref) }
                    sum.add(hash.step(state, object.rawValue), hash)
                } else {
                    try compare(object, after: &last, previous, ref)
                }
                previous = object
            }
            count += integers.count
        }
        guard count > 0, count == tree.count else { throw doubt(ref) }
        entryCount += count
        isUnique = isUnique && count == 1
    }

    /// Returns the value of an object whose data begins with the present path.
    private func value(of object: ObjectKey, _ ref: Ref) throws(StorageError) -> Value {
        guard let value = try table.find(object)?.value(column) else { throw doubt(ref) }
        let data = IndexData(value)
        guard path.indices.allSatisfy({ data.key(at: 4 * $0) == path[$0] }) else { throw doubt(ref) }
        return value
    }

    /// Returns how the objects of a list are proved to belong there, given the first of them.
    ///
    /// In the last level, and in a list of numbers of a Mixed column, they may have different values.
    private func way(ofListWith object: ObjectKey, _ ref: Ref) throws(StorageError) -> Way {
        let value = try value(of: object, ref)
        guard !isLastLevel, column.type != .mixed || IndexProof.isAlone(value) else { return .singly }
        return .together(state: state(of: value, IndexData(value)))
    }

    /// Whether the present path is as long as paths can be.
    private var isLastLevel: Bool { path.count * 4 > IndexData.maximumOffset }

    /// Returns whether values of this type do not have the same data as values of another.
    private static func isAlone(_ value: Value) -> Bool {
        switch value {
        case .null, .string, .timestamp, .objectID, .uuid: return true
        default: return false
        }
    }

    /// Compares an object of a list with the one before it.
    ///
    /// - Parameters:
    ///   - last: The value of the object before it, nil at the beginning, which becomes that of the
    ///     object.
    ///   - previous: The object before it.
    private mutating func compare(
        _ object: ObjectKey, after last: inout Value?, _ previous: ObjectKey, _ ref: Ref
    ) throws(StorageError) {
        try note(object, Note.compared, ref)
        let value = try value(of: object, ref)
        if let last {
            let order = Value.order(last, value)
            guard order < 0 || order == 0 && previous < object else { throw doubt(ref) }
            guard isLastLevel || IndexData(last) == IndexData(value) else { throw doubt(ref) }
        }
        last = value
    }

    // MARK: - The column

    /// Subtracts the hashes of all objects; throws for one that is not filed.
    private mutating func scan() throws(StorageError) {
        var cursor = table.leaves()
        var position = 0
        while let leaf = try cursor.next() {
            try control?.check()
            if column.type == .int {
                try scan(leaf, try leaf.attachIntegers(column), position)
            } else {
                try scan(leaf, try leaf.attach(column), position)
            }
            position += leaf.count
        }
    }

    /// Returns how the object in a row of a leaf is filed.
    @inline(__always)
    private func note(_ leaf: ClusterLeaf, _ row: Int, _ position: Int) -> UInt8 {
        guard !notes.isEmpty else { return usual }
        let note = notes[keys.slot(leaf, row, position: position)]
        return note == Note.usual ? usual : note
    }

    /// Subtracts the hashes of the integers of a leaf.
    private mutating func scan(_ leaf: ClusterLeaf, _ values: IntLeaf, _ position: Int) throws(StorageError) {
        for row in 0..<leaf.count {
            let note = note(leaf, row, position)
            let object = leaf.key(at: row).rawValue
            let state: UInt64
            switch (note, values.integer(row)) {
            case (1, let number?): state = hash.step(hash.start, Int64(IndexData.firstKey(of: number)))
            case (Note.list, let number?): state = self.state(of: number)
            case (_, let number): state = try self.state(of: number.map(Value.int) ?? .null, note, leaf.node.ref)
            }
            if note != Note.compared { sum.subtract(hash.step(state, object), hash) }
        }
    }

    /// Subtracts the hashes of the values of a leaf.
    private mutating func scan(_ leaf: ClusterLeaf, _ values: ColumnLeaf, _ position: Int) throws(StorageError) {
        for row in 0..<leaf.count {
            let note = note(leaf, row, position)
            guard note != Note.compared else { continue }
            let state = try self.state(of: try values.value(row), note, leaf.node.ref)
            sum.subtract(hash.step(state, leaf.key(at: row).rawValue), hash)
        }
    }

    /// Returns the state of a value of an object that is filed as a note says.
    private func state(of value: Value, _ note: UInt8, _ ref: Ref) throws(StorageError) -> UInt64 {
        guard note != Note.usual else { throw doubt(ref) }
        let data = IndexData(value)
        guard note < Note.compared else { return state(of: value, data) }
        var state = hash.start
        for level in 0..<Int(note) { state = hash.step(state, Int64(data.key(at: 4 * level))) }
        return state
    }

    /// Returns the state of the whole data of a value.
    private func state(of value: Value, _ data: IndexData) -> UInt64 {
        if case .int(let number) = value { return state(of: number) }
        var state = hash.step(hash.start ^ 1, Int64(value.typeRank))
        state = hash.step(state, Int64(data.isNull ? -1 : data.count))
        for offset in stride(from: 0, to: data.count, by: 4) { state = hash.step(state, Int64(data.key(at: offset))) }
        return state
    }

    /// Returns the state of the whole data of an integer.
    @inline(__always)
    private func state(of number: Int64) -> UInt64 { hash.step(hash.start ^ 2, number) }
}
