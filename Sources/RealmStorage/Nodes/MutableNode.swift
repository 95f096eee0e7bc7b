// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A node of the running transaction that may be changed.
///
/// A change that needs more room moves the node: `ref` is current after every mutating call, and the caller stores it where the
/// old ref was. Copies of this struct do not follow such moves; use one at a time. The functions do not check indexes in
/// release builds: callers do, as files may be damaged.
@safe package struct MutableNode {
    /// The nodes of the transaction, in which moved nodes get their memory. It is unowned, because
    /// a `MutableNode` never outlives its transaction.
    unowned(unsafe) private let space: WriteSpace
    /// The present ref of the node, which changes when the node moves.
    package private(set) var ref: Ref
    /// The 8 header bytes, followed by the payload.
    private var header: UnsafeMutableRawPointer

    /// The greatest size of a node in bytes: it must lie within one section of 64 MiB of the file.
    static let maximumByteCount = 64 << 20

    /// Makes an access to the node at `header`, which lies in the arena of `space`.
    init(space: WriteSpace, ref: Ref, header: UnsafeMutableRawPointer) {
        unsafe self.space = space
        self.ref = ref
        unsafe self.header = unsafe header
    }

    // MARK: - Header

    /// The first byte of the elements, after the 8 bytes of the header.
    var payload: UnsafeMutableRawPointer { unsafe header + 8 }
    /// The flags of the header; see `NodeLayout`.
    package var flags: UInt8 { unsafe header.load(fromByteOffset: 4, as: UInt8.self) }
    /// Whether this is an inner node of a tree.
    package var isInner: Bool { flags & NodeLayout.innerFlag != 0 }
    /// Whether the elements are refs and tagged numbers.
    package var hasRefs: Bool { flags & NodeLayout.refsFlag != 0 }
    /// Whether the context flag is set, whose meaning depends on the structure.
    package var hasContext: Bool { flags & NodeLayout.contextFlag != 0 }
    /// The code of the width, 0 to 7.
    package var widthCode: Int { Int(flags & NodeLayout.widthCodeMask) }
    /// The number of bits per element, or of bytes in a node of whole-byte elements.
    package var width: Int { (1 << widthCode) >> 1 }

    /// How many elements the node has at present.
    package var count: Int {
        unsafe Int(UInt32(bigEndian: header.load(fromByteOffset: 4, as: UInt32.self)) & 0xff_ffff)
    }

    /// A view of the node in its present state, which is invalid after the next change.
    package var node: Node {
        unsafe Node(payload: UnsafeRawPointer(payload), ref: ref, header: UInt64(littleEndian: header.load(as: UInt64.self)))
    }

    /// The size in bytes of the memory for the payload.
    private var capacity: Int { unsafe Int(UInt32(littleEndian: header.load(as: UInt32.self))) << 3 - 8 }

    /// Writes flags and count; the first four bytes, which hold the capacity, stay.
    private func setHeader(flags: UInt8, count: Int) {
        let word = UInt32(flags) << 24 | UInt32(count)
        unsafe header.storeBytes(of: word.bigEndian, toByteOffset: 4, as: UInt32.self)
    }

    /// Sets or clears the context flag. It does not move the node.
    package func setContext(_ isSet: Bool) {
        setHeader(flags: isSet ? flags | NodeLayout.contextFlag : flags & ~NodeLayout.contextFlag, count: count)
    }

    // MARK: - Filling

    /// Writes a header, and zeros for all elements that there is room for.
    mutating func initialize(flags: UInt8, count: Int) {
        setHeader(flags: flags, count: count)
        unsafe payload.initializeMemory(as: UInt8.self, repeating: 0, count: capacity)
    }

    /// Copies header and payload of a node; the caller has made room for them.
    mutating func initialize(copyOf node: Node) {
        setHeader(flags: node.flags, count: node.count)
        unsafe payload.copyMemory(from: node.payload, byteCount: node.payloadByteCount)
    }

    /// Copies the elements of a bit-packed node of whole bytes, widened to 64 bits each; the caller has made room for them.
    mutating func initialize(wideCopyOf node: Node) {
        setHeader(flags: node.flags | 7, count: node.count)
        unsafe node.copyWords(to: payload)
    }

    /// Makes room for a payload of `byteCount` bytes, and moves the node if it has less.
    ///
    /// - Throws: `.limit` for more elements or bytes than a node can have.
    private mutating func reserve(_ byteCount: Int, count: Int) throws(StorageError) {
        guard count <= NodeLayout.maximumCount, byteCount < MutableNode.maximumByteCount - 16 else {
            throw .limit("a node may not hold \(count) elements in \(byteCount) bytes")
        }
        // The last word is read and written as a whole, so 7 bytes more are needed.
        let needed = byteCount + 7
        guard needed > capacity else { return }
        let old = node
        let block = try unsafe space.arena.allocate(byteCount: 8 + needed + needed / 4)
        var moved = unsafe MutableNode(space: space, ref: block.ref, header: block.address)
        moved.initialize(copyOf: old)
        unsafe space.discard(old)
        self = moved
    }
}

/// Elements of packed nodes: reading, replacing, inserting and removing, with a width that grows as values need it.
extension MutableNode {
    /// Returns element `index`, which the caller has checked, in the form that the structure uses.
    package func integer(_ index: Int, _ form: IntegerForm = .signed) -> Int64 {
        assert(index >= 0 && index < count)
        return load(index, widthCode, form)
    }

    /// Returns the ref in slot `index`; `Ref.none` when there is none or the slot holds a number.
    package func ref(_ index: Int) -> Ref {
        let raw = UInt64(bitPattern: integer(index))
        return raw & 1 == 1 ? .none : Ref(raw)
    }

    /// Replaces element `index`, and widens all elements if the value needs it.
    package mutating func set(_ index: Int, _ value: Int64, _ form: IntegerForm = .signed) throws(StorageError) {
        assert(index >= 0 && index < count)
        try widen(for: value, form)
        store(value, at: index, widthCode)
    }

    /// Stores a ref in slot `index` of a node of refs.
    package mutating func set(_ index: Int, _ ref: Ref) throws(StorageError) {
        try set(index, Int64(bitPattern: ref.rawValue))
    }

    /// Stores a number in slot `index` of a node of refs.
    package mutating func set(_ index: Int, tagged number: UInt64) throws(StorageError) {
        try set(index, MutableNode.tagged(number))
    }

    /// Returns the element that means `number` in a node of refs: twice the number, plus one.
    package static func tagged(_ number: UInt64) -> Int64 { Int64(bitPattern: number << 1 | 1) }

    /// Adds an element at the end, and widens all elements if the value needs it.
    package mutating func append(_ value: Int64, _ form: IntegerForm = .signed) throws(StorageError) {
        try insert(value, at: count, form)
    }

    /// Adds elements at the end, and widens all elements once if one of the new ones needs it.
    ///
    /// - Throws: `.limit` when the node cannot hold them.
    package mutating func append(contentsOf values: some Collection<Int64>, _ form: IntegerForm = .signed) throws(StorageError) {
        let oldCount = count
        try replaceIntegers(from: oldCount, by: values, form)
    }

    /// Replaces the elements from `index` on by others, and widens all elements once if one of the new ones needs it.
    ///
    /// - Parameters:
    ///   - index: The first element that is replaced, `0...count`.
    ///   - values: The elements that take the place of all elements from there on.
    ///   - form: Whether the elements are signed.
    /// - Throws: `.limit` when the node cannot hold them.
    package mutating func replaceIntegers(
        from index: Int, by values: some Collection<Int64>, _ form: IntegerForm = .signed
    ) throws(StorageError) {
        assert(index >= 0 && index <= count)
        var code = widthCode
        for value in values { code = max(code, form.widthCode(for: value)) }
        try widen(toCode: code, form)
        let newCount = index + values.count
        try reserve(NodeLayout.payloadByteCount(flags: flags, count: newCount), count: newCount)
        setHeader(flags: flags, count: newCount)
        var position = index
        for value in values {
            store(value, at: position, code)
            position += 1
        }
    }

    /// Adds a ref at the end of a node of refs.
    package mutating func append(_ ref: Ref) throws(StorageError) {
        try insert(Int64(bitPattern: ref.rawValue), at: count)
    }

    /// Inserts an element at `index`, which may be the count, and widens all elements if the value needs it.
    ///
    /// - Parameters:
    ///   - value: The element.
    ///   - index: Its position, `0...count`.
    ///   - form: Whether the elements are signed.
    /// - Throws: `.limit` when the node is full.
    package mutating func insert(
        _ value: Int64, at index: Int, _ form: IntegerForm = .signed
    ) throws(StorageError) {
        let oldCount = count
        assert(index >= 0 && index <= oldCount)
        try widen(for: value, form)
        try reserve(NodeLayout.payloadByteCount(flags: flags, count: oldCount + 1), count: oldCount + 1)
        setHeader(flags: flags, count: oldCount + 1)
        move(from: index, to: index + 1, count: oldCount - index)
        store(value, at: index, widthCode)
    }

    /// Inserts a ref at `index` of a node of refs.
    package mutating func insert(_ ref: Ref, at index: Int) throws(StorageError) {
        try insert(Int64(bitPattern: ref.rawValue), at: index)
    }

    /// Removes the elements in `range`; the width stays as it is.
    package mutating func removeIntegers(_ range: Range<Int>) {
        let oldCount = count
        assert(range.lowerBound >= 0 && range.upperBound <= oldCount)
        move(from: range.upperBound, to: range.lowerBound, count: oldCount - range.upperBound)
        setHeader(flags: flags, count: oldCount - range.count)
    }

    /// Removes element `index`; the width stays as it is.
    package mutating func removeInteger(at index: Int) { removeIntegers(index..<index + 1) }

    /// Adds `delta` to the elements in `range`, and widens all elements if a sum needs it.
    package mutating func add(
        _ delta: Int64, to range: Range<Int>, _ form: IntegerForm = .signed
    ) throws(StorageError) {
        guard delta != 0, !range.isEmpty else { return }
        assert(range.lowerBound >= 0 && range.upperBound <= count)
        var code = widthCode
        for index in range { code = max(code, form.widthCode(for: load(index, widthCode, form) &+ delta)) }
        try widen(toCode: code, form)
        for index in range { store(load(index, code, form) &+ delta, at: index, code) }
    }

    /// Raises the width so that `value` fits.
    ///
    /// Elements are moved to a wider layout in place, from the last to the first, or to new memory
    /// when there is no room. The width never shrinks.
    package mutating func widen(for value: Int64, _ form: IntegerForm = .signed) throws(StorageError) {
        let code = form.widthCode(for: value)
        if code > widthCode { try widen(toCode: code, form) }
    }

    /// Raises the width to the one that `code` means, if it is smaller.
    package mutating func widen(toCode code: Int, _ form: IntegerForm = .signed) throws(StorageError) {
        let oldCode = widthCode
        guard code > oldCode else { return }
        let elementCount = count
        let newFlags = flags & ~7 | UInt8(code)
        try reserve(NodeLayout.payloadByteCount(flags: newFlags, count: elementCount), count: elementCount)
        setHeader(flags: newFlags, count: elementCount)
        if oldCode == 0 { return clear(elementCount, code) }
        // From the end: a wider element never reaches below those that are still to be read.
        for index in stride(from: elementCount - 1, through: 0, by: -1) {
            store(load(index, oldCode, form), at: index, code)
        }
    }

    /// Sets all elements of a width to 0.
    private func clear(_ elementCount: Int, _ code: Int) {
        let byteCount = NodeLayout.payloadByteCount(flags: UInt8(code), count: elementCount)
        unsafe payload.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    /// Reads an element of the given width and form.
    private func load(_ index: Int, _ code: Int, _ form: IntegerForm) -> Int64 {
        let value = unsafe PackedIntegers.load(payload, widthCode: code, index: index)
        guard form == .unsigned, code < 7 else { return value }
        return value & (1 << Int64((1 << code) >> 1) - 1)
    }

    /// Stores an element of the given width. It is in bounds, as callers reserve room for `count` elements of the width first.
    private func store(_ value: Int64, at index: Int, _ code: Int) {
        switch code {
        case 0: return
        case 1, 2, 3: storeBits(value, at: index, width: (1 << code) >> 1)
        case 4: unsafe payload.storeBytes(of: Int8(truncatingIfNeeded: value), toByteOffset: index, as: Int8.self)
        case 5:
            unsafe payload.storeBytes(of: Int16(truncatingIfNeeded: value).littleEndian, toByteOffset: index << 1, as: Int16.self)
        case 6:
            unsafe payload.storeBytes(of: Int32(truncatingIfNeeded: value).littleEndian, toByteOffset: index << 2, as: Int32.self)
        default: unsafe payload.storeBytes(of: value.littleEndian, toByteOffset: index << 3, as: Int64.self)
        }
    }

    /// Stores an element of 1, 2 or 4 bits; the other bits of its byte stay.
    private func storeBits(_ value: Int64, at index: Int, width: Int) {
        let bit = index * width
        let ones = UInt8((1 << width) - 1) << UInt8(bit & 7)
        let old = unsafe payload.load(fromByteOffset: bit >> 3, as: UInt8.self)
        let new = UInt8(truncatingIfNeeded: value) << UInt8(bit & 7) & ones
        unsafe payload.storeBytes(of: old & ~ones | new, toByteOffset: bit >> 3, as: UInt8.self)
    }

    /// Moves a run of elements within the payload; the runs may overlap.
    private func move(from source: Int, to target: Int, count moved: Int) {
        guard moved > 0, source != target else { return }
        let code = widthCode
        if code >= 4 {
            let size = width >> 3
            unsafe (payload + target * size).copyMemory(from: payload + source * size, byteCount: moved * size)
        } else if code > 0 {
            moveBits(from: source * width, to: target * width, count: moved * width)
        }
    }

    /// Moves a run of bits, up to 32 at a time; bits after the run stay.
    private func moveBits(from source: Int, to target: Int, count: Int) {
        var done = 0
        while done < count {
            let chunk = min(32, count - done)
            // Moves to higher positions begin at the end, so that no bit is overwritten before it is
            // moved.
            let offset = source > target ? done : count - done - chunk
            storeBits(loadBits(source + offset, chunk), at: target + offset, chunk)
            done += chunk
        }
    }

    /// Reads at most 32 bits from bit `position` on. It is in bounds, because a payload is followed by 7 spare bytes.
    private func loadBits(_ position: Int, _ count: Int) -> UInt64 {
        let word = unsafe UInt64(littleEndian: payload.loadUnaligned(fromByteOffset: position >> 3, as: UInt64.self))
        return word >> UInt64(position & 7) & (1 << UInt64(count) - 1)
    }

    /// Stores at most 32 bits from bit `position` on; the bits around them stay.
    private func storeBits(_ bits: UInt64, at position: Int, _ count: Int) {
        let word = unsafe UInt64(littleEndian: payload.loadUnaligned(fromByteOffset: position >> 3, as: UInt64.self))
        let ones: UInt64 = (1 << UInt64(count) - 1) << UInt64(position & 7)
        let merged = word & ~ones | bits << UInt64(position & 7)
        unsafe payload.storeBytes(of: merged.littleEndian, toByteOffset: position >> 3, as: UInt64.self)
    }
}

// MARK: - Bytes

/// Elements of whole bytes, which are moved as runs.
extension MutableNode {
    /// The size of an element in bytes in a node of whole bytes: its width, or 1 in a node of plain bytes.
    private var elementByteCount: Int { flags & NodeLayout.ignoreFlag != 0 ? 1 : width }

    /// Replaces a run of elements by zeros, in nodes of whole-byte elements and of plain bytes.
    ///
    /// - Parameters:
    ///   - index: The first element that is replaced.
    ///   - inserted: How many zero elements are inserted in their place.
    /// - Throws: `.limit` when the node would be too large.
    package mutating func replaceElements(at index: Int, removing removed: Int, inserting inserted: Int) throws(StorageError) {
        let oldCount = count
        assert(flags & NodeLayout.widthTypeMask != 0 && index >= 0 && removed >= 0 && index + removed <= oldCount)
        let size = elementByteCount
        let newCount = oldCount - removed + inserted
        try reserve(newCount * size, count: newCount)
        let tail = (oldCount - index - removed) * size
        unsafe (payload + (index + inserted) * size).copyMemory(from: payload + (index + removed) * size, byteCount: tail)
        unsafe (payload + index * size).initializeMemory(as: UInt8.self, repeating: 0, count: inserted * size)
        setHeader(flags: flags, count: newCount)
    }

    /// Copies `bytes` into the payload from `offset` on; the caller has checked that they fit.
    package func store(_ bytes: ByteView, atByte offset: Int) {
        assert(offset >= 0 && offset + bytes.count <= node.payloadByteCount)
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe (payload + offset).copyMemory(from: start, byteCount: source.count)
        }
    }

    /// Stores a little-endian number at a byte offset that the caller has checked against the payload.
    package func store<Number: FixedWidthInteger>(_ number: Number, atByte offset: Int) {
        assert(offset >= 0 && offset + MemoryLayout<Number>.size <= node.payloadByteCount)
        unsafe payload.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    }

    /// Reads a little-endian number at a byte offset that the caller has checked against the payload.
    package func load<Number: FixedWidthInteger>(byteOffset: Int, as type: Number.Type) -> Number {
        node.load(byteOffset: byteOffset, as: type)
    }

    /// A view of the whole payload, which is invalid after the next change.
    package var bytes: ByteView { node.bytes }
}

// MARK: - Whole nodes

/// Making nodes from values in memory.
extension WriteSpace {
    /// Makes a node of integers in the smallest width that holds them all.
    ///
    /// - Parameters:
    ///   - values: The elements.
    ///   - kind: A kind with packed elements.
    ///   - form: Whether the elements are signed.
    package func makeIntegers(
        _ values: some Collection<Int64>, _ kind: NodeKind = .integers, _ form: IntegerForm = .signed
    ) throws(StorageError) -> MutableNode {
        var code = form == .unsigned ? 4 : 0
        for value in values { code = max(code, form.widthCode(for: value)) }
        var node = try makeNode(kind, widthCode: code, count: values.count)
        var index = 0
        for value in values {
            try node.set(index, value, form)
            index += 1
        }
        return node
    }

    /// Makes a node of plain bytes; with `terminated`, a zero byte follows them, as after texts.
    package func makeBlob(_ bytes: ByteView, terminated: Bool = false) throws(StorageError) -> MutableNode {
        let count = bytes.count + (terminated ? 1 : 0)
        let node = try makeNode(.blob, widthCode: count == 0 ? 0 : 1, count: count)
        node.store(bytes, atByte: 0)
        return node
    }
}
