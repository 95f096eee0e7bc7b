// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The walk over all nodes of a file that counts their bytes.
///
/// - Each byte is counted once, by the first node that has it. A node that shares bytes is damage, and is not followed.
/// - Nothing is followed twice, so damage cannot make the walk longer than the file, nor a loop endless.
/// - Nodes of trees, values and indexes need no knowledge of their contents: each even element of a node with refs leads to another
///   node. Only what says whose nodes they are is read: schemas, leaves of objects, and columns with values of their own nodes.
///
/// Not Sendable: it belongs to the thread that walks.
final class SizeWalk {
    let file: RealmFile
    let options: SizeReport.Options
    /// The nodes of the file, up to its logical end once that is known.
    private(set) var space: NodeSpace
    /// The positions of the classes that may be named; nil for all.
    private let shownPositions: Set<Int>?
    private let joinedValues = JoinedValues()
    private let control: WorkControl?
    /// The bytes that were counted.
    private let marks: ByteMarks
    /// The bytes of each counter.
    private(set) var counts = Array(repeating: UInt64(0), count: Counter.count)
    var tables: [SizeTable] = []
    var largest = LargestValues()
    /// The table and the column whose nodes are walked over; nil for none.
    var place: (table: Int?, column: Int?)
    /// The columns that may still be listed, in all tables together.
    var columnBudget = 100_000

    private(set) var nodeCount = 0
    /// The nodes that were looked at, for the control.
    private var attempts = 0
    /// How often decrypted pages were given back.
    private var epoch = 0
    private(set) var damage: [SizeReport.Damage] = []
    private(set) var damageCount = 0
    private(set) var version: UInt64?
    private(set) var logicalBytes: UInt64?
    private(set) var free: SizeReport.Free?

    /// The counters of the file as a whole, before those of tables.
    enum Counter { static let top = 0, freeLists = 1, history = 2, count = 3 }
    /// The size in bytes of decrypted pages above which their memory is given back.
    private static let keptDecrypted = 64 << 20
    /// The most levels of nodes below a value: 128 nested collections of at most 16 levels.
    private static let maximumDepth = 2048
    /// The number of unreadable nodes after which no other node is read.
    private static let endlessDamage = 1 << 20
    private static let nodesPerCheck = 4096

    /// A node that is read over some time. Pages may be given back meanwhile, so its slots are read by `slot`.
    struct Held {
        fileprivate(set) var node: Node
        fileprivate var epoch: Int
        /// Whether the node can lead to others.
        var isBranch: Bool { node.hasRefs && node.width > 0 }
    }

    /// Makes a walk over a file, which it keeps.
    ///
    /// - Throws: `.io` when there are no addresses for the marks.
    init(_ file: RealmFile, _ options: SizeReport.Options, _ control: WorkControl?) throws(StorageError) {
        (self.file, self.options, self.control) = (file, options, control)
        shownPositions = options.shown.map { Set($0.map(\.position)) }
        let byteCount = UInt64(file.plainByteCount) & ~7
        space = file.space(limit: byteCount, joinedValues: joinedValues)
        marks = try ByteMarks(byteCount: byteCount)
    }

    /// Walks over the whole file.
    func run() throws(StorageError) {
        try control?.check()
        let root = file.header.topRef
        guard !root.isNone else { return logicalBytes = UInt64(min(FileHeader.byteCount, file.plainByteCount)) }
        guard let top = try take(root, Counter.top) else { return }
        do throws(StorageError) {
            try walk(top)
        } catch {
            guard case .corrupt(let ref, let reason) = error else { throw error }
            note(ref, reason)
        }
        try control?.check()
    }

    // MARK: - Nodes

    /// Counts a node, which must belong to nothing else.
    ///
    /// - Returns: The node; nil when it cannot be read as a whole, which is noted.
    /// - Throws: The error of the control, and any error that is not about the node.
    func take(_ ref: Ref, _ counter: Int) throws(StorageError) -> Held? {
        attempts += 1
        if attempts % SizeWalk.nodesPerCheck == 0 { try control?.check() }
        if options.ownsFile, space.decryptedByteCount > SizeWalk.keptDecrypted {
            space.forgetPages()
            epoch += 1
        }
        guard damageCount < SizeWalk.endlessDamage else { return nil }
        let node: Node
        do throws(StorageError) {
            node = try space.node(at: ref)
        } catch {
            guard case .corrupt(_, let reason) = error else { throw error }
            note(ref, reason)
            return nil
        }
        let end = ref.rawValue + UInt64(node.byteCount)
        let reached = marks.markUnmarked(ref.rawValue, end)
        counts[counter] += reached - ref.rawValue
        guard reached == end else {
            note(ref, "the node shares bytes with another one, or is used twice")
            return nil
        }
        nodeCount += 1
        return Held(node: node, epoch: epoch)
    }

    /// Counts the node at a ref, if there is one.
    func take(_ ref: Ref?, _ counter: Int) throws(StorageError) -> Held? {
        guard let ref else { return nil }
        let node: Held? = try take(ref, counter)
        return node
    }

    /// Returns a node that was counted before.
    func hold(_ ref: Ref) throws(StorageError) -> Held { Held(node: try space.node(at: ref), epoch: epoch) }

    /// Returns a slot of a node with refs, which must exist: 0 for nothing, odd for a number, else a ref.
    @inline(__always) func slot(_ held: inout Held, _ index: Int) throws(StorageError) -> UInt64 {
        if held.epoch != epoch { try renew(&held) }
        return UInt64(bitPattern: held.node.integer(index))
    }

    /// Returns the ref in a slot of a node with refs; nil for a number, nothing, or a missing slot.
    @inline(__always) func child(_ held: inout Held, _ index: Int) throws(StorageError) -> Ref? {
        guard index < held.node.count else { return nil }
        let raw = try slot(&held, index)
        return raw != 0 && raw & 1 == 0 ? Ref(raw) : nil
    }

    /// Returns the elements of a plain node of integers; nil for another one.
    func integers(_ held: inout Held) throws(StorageError) -> PackedIntegers? {
        if held.epoch != epoch { try renew(&held) }
        guard !held.node.hasRefs, held.node.widthType == 0, held.node.width > 0 || held.node.count <= 1 << 16 else { return nil }
        return try held.node.integers()
    }

    /// Returns the elements of a plain node of integers; nil for another one, and for none.
    func integers(_ held: inout Held?) throws(StorageError) -> PackedIntegers? {
        guard var node = held else { return nil }
        defer { held = node }
        return try integers(&node)
    }

    /// Reads a node again whose pages were given back.
    private func renew(_ held: inout Held) throws(StorageError) {
        held.node = try space.node(at: held.node.ref)
        held.epoch = epoch
    }

    /// Counts a node and all nodes below it.
    ///
    /// - Returns: Their bytes.
    @discardableResult func sweep(_ ref: Ref, _ counter: Int) throws(StorageError) -> UInt64 {
        let before = counts[counter]
        if let root = try take(ref, counter) { try sweepBelow(root, counter) }
        return counts[counter] - before
    }

    /// Counts all nodes below a node.
    func sweepBelow(_ root: Held, _ counter: Int) throws(StorageError) {
        guard root.isBranch else { return }
        var (held, next) = (root, 0)
        var path: [(held: Held, next: Int)] = []
        while true {
            var branch: Held?
            while next < held.node.count, branch == nil {
                let raw = try slot(&held, next)
                next += 1
                guard raw != 0, raw & 1 == 0, let node = try take(Ref(raw), counter), node.isBranch else { continue }
                branch = node
            }
            if let branch {
                guard path.count < SizeWalk.maximumDepth else {
                    note(branch.node.ref, "nodes are nested deeper than \(SizeWalk.maximumDepth) levels")
                    continue
                }
                path.append((held, next))
                (held, next) = (branch, 0)
            } else if let last = path.popLast() {
                (held, next) = last
            } else {
                return
            }
        }
    }

    /// Makes room for counters.
    ///
    /// - Returns: The position of the first one.
    func addCounters(_ count: Int) -> Int {
        counts.append(contentsOf: repeatElement(0, count: count))
        return counts.count - count
    }

    /// Notes a node that cannot be read.
    func note(_ ref: Ref, _ reason: @autoclosure () -> String) {
        damageCount += 1
        if let table = place.table { tables[table].isComplete = false }
        guard damage.count < SizeReport.maximumDamage else { return }
        let table = place.table.map { tables[$0] }
        let shown = table?.isHidden == true ? nil : table
        let property = place.column.flatMap { column in shown.map { $0.columns[column].name } }
        damage.append(
            SizeReport.Damage(
                offset: ref.rawValue, table: shown.map(SizeWalk.reportedName), property: property, reason: reason()))
    }

    /// Notes a node of the wrong form.
    func noteMisfit(_ held: Held, _ what: StaticString) { note(held.node.ref, "\(what) expected") }

    // MARK: - The file

    /// Walks over everything that the top node leads to.
    private func walk(_ top: Held) throws(StorageError) {
        var top = top
        guard top.isBranch, !top.node.isInner, top.node.count >= 3 else { return noteMisfit(top, "a top node") }
        try readSize(&top)
        let (namesRef, listRef) = (try child(&top, 0), try child(&top, 1))
        let lists = [try child(&top, 3), try child(&top, 4), try child(&top, 5)]
        for index in 0..<top.node.count where index != 1 {
            guard let ref = try child(&top, index) else { continue }
            switch index {
            case 3, 4, 5: try sweep(ref, Counter.freeLists)
            case 8: try sweep(ref, Counter.history)
            default: try sweep(ref, Counter.top)
            }
        }
        if let listRef, var list = try take(listRef, Counter.top) {
            if list.node.hasRefs {
                try walkTables(&list, try names(namesRef) ?? [])
            } else {
                noteMisfit(list, "a list of tables")
            }
        }
        place = (nil, nil)
        do throws(StorageError) {
            try readFreeBlocks(lists)
        } catch {
            guard case .corrupt(let ref, let reason) = error else { throw error }
            note(ref, reason)
        }
    }

    /// Reads the logical size and the version.
    private func readSize(_ top: inout Held) throws(StorageError) {
        let size = try slot(&top, 2) >> 1
        if top.node.count > 6 {
            let raw = try slot(&top, 6)
            if raw & 1 == 1 { version = raw >> 1 }
        }
        guard try slot(&top, 2) & 1 == 1, size <= space.limit, size >= top.node.ref.rawValue + UInt64(top.node.byteCount) else {
            return note(top.node.ref, "a logical file size of \(size) bytes in a file of \(file.plainByteCount)")
        }
        logicalBytes = size
        space = file.space(limit: size, joinedValues: joinedValues)
    }

    /// Lists the schemas of all tables first, as columns of incoming links belong to properties of any table.
    private func walkTables(_ list: inout Held, _ names: [String]) throws(StorageError) {
        guard list.isBranch else { return }
        let isLegacy = FileHeader.convertedFormats.contains(file.header.fileFormat)
        var positions: [Int64: Int] = [:]
        for position in 0..<min(list.node.count, SizeWalk.maximumTableCount) {
            guard let ref = try child(&list, position) else { continue }
            positions[Int64(position)] = tables.count
            addTable(position < names.count ? names[position] : "", position)
            if isLegacy { try readLegacyTable(at: ref) } else { try readTable(at: ref) }
        }
        for index in tables.indices {
            place = (index, nil)
            let backlinks = backlinkCounters(tables[index], positions, isLegacy: isLegacy)
            if isLegacy { try walkLegacyColumns(index, backlinks) } else { try walkObjects(index, backlinks) }
        }
    }

    private static let maximumTableCount = 0x10000

    /// Adds a table whose schema is going to be read.
    private func addTable(_ name: String, _ position: Int) {
        let isClass = name.hasPrefix(Table.classPrefix)
        let isShown = !isClass || shownPositions?.contains(position) ?? true
        tables.append(SizeTable(name: name, isHidden: !isShown, firstCounter: addCounters(SizeTable.counterCount)))
        place = (tables.count - 1, nil)
    }

    /// Returns the counters of the columns of incoming links of a table by slot.
    private func backlinkCounters(_ table: SizeTable, _ positions: [Int64: Int], isLegacy: Bool) -> [Int: Int] {
        var counters: [Int: Int] = [:]
        for backlink in table.backlinks {
            let origin = positions[isLegacy ? backlink.table : backlink.table & 0xffff].map { tables[$0] }
            let column = origin.flatMap { origin in
                isLegacy
                    ? origin.columns.first { $0.key == backlink.column }
                    : origin.positions[Int(backlink.column & 0xffff)].map { origin.columns[$0] }
            }
            counters[backlink.slot] =
                column.map { $0.backlinks } ?? table.other
        }
        return counters
    }

    /// Returns the texts of a list of names; nil when it cannot be read.
    func names(_ ref: Ref?) throws(StorageError) -> [String]? {
        guard let ref, let node = try? space.node(at: ref), !node.hasRefs, node.widthType == Node.WidthType.multiply.rawValue,
            node.count <= 0xffff
        else { return nil }
        let (width, bytes) = (node.width, node.bytes)
        return (0..<node.count).map { row in
            guard width > 1 else { return "" }
            let end = (row + 1) * width - 1
            let length = width - 1 - Int(bytes[end])
            return length > 0 ? bytes.slice(end + 1 - width, end + 1 - width + length).string : ""
        }
    }

    // MARK: - Free space

    /// Counts the free blocks, which must not meet a node.
    private func readFreeBlocks(_ refs: [Ref?]) throws(StorageError) {
        guard let positionsRef = refs[0], let lengthsRef = refs[1] else { return free = SizeReport.Free() }
        let positions = try FreeSpace.integers(positionsRef, space)
        let lengths = try FreeSpace.integers(lengthsRef, space)
        let versions = try refs[2].map { ref throws(StorageError) in try FreeSpace.integers(ref, space) }
        guard positions.count == lengths.count, versions == nil || versions?.count == positions.count else {
            return note(positionsRef, "the lists of free blocks differ in length")
        }
        var free = SizeReport.Free()
        free.pinned = options.oldestVersion == nil ? nil : 0
        for index in 0..<positions.count {
            let (position, length) = (positions[index], lengths[index])
            guard SpaceCheck.isBlock(position, length, space) else {
                note(positionsRef, "free block \(index) is out of bounds or misaligned")
                continue
            }
            let (start, end) = (UInt64(position), UInt64(position) + UInt64(length))
            let reached = marks.markUnmarked(start, end)
            if reached < end { note(Ref(start), "a free block of \(length) bytes shares bytes with a node or another block") }
            free.bytes += reached - start
            free.blockCount += 1
            free.largestBlock = max(free.largestBlock, UInt64(length))
            if let oldest = options.oldestVersion, let versions, UInt64(clamping: versions[index]) > oldest {
                free.pinned? += reached - start
            }
        }
        self.free = free
    }
}
