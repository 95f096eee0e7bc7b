// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks the links of a version: that their targets exist, that each has its backlink, and that
/// each embedded object has one owner and does not hold itself.
///
/// Links are entered while all objects are read. Where their sums are not conclusive, a second walk enters few of them one by
/// one.
struct LinkCheck {
    /// One link, as its origin holds it.
    typealias Link = LinkLedger.Link

    /// The version that is checked.
    private let snapshot: Snapshot
    /// The keys of the objects of each table.
    private let live: [TableKey: VerifiedKeys]
    /// The keys of the tombstones of each table.
    private let dead: [TableKey: VerifiedKeys]
    /// The account of links and backlinks.
    private var ledger: LinkLedger
    /// How many incoming links each embedded object has.
    private var owners: [TableKey: OwnerCounts]
    /// The tables of embedded objects.
    private let embedded: Set<TableKey>
    /// The search for embedded objects that hold each other in a cycle, or at first for classes that do.
    private var cycles = EmbeddedCycleCheck()
    private var searchesObjects: Bool
    /// The classes of embedded objects, in pairs, of which the first is known to hold the second.
    private var nested: Set<[TableKey]> = []
    /// Whether links are entered one by one.
    let isExact: Bool

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - live: The keys of the objects of each table.
    ///   - dead: The keys of the tombstones of each table.
    ///   - isExact: Whether links are entered one by one from the start.
    init(
        _ snapshot: Snapshot, live: [TableKey: VerifiedKeys], dead: [TableKey: VerifiedKeys], hash: ProofHash, isExact: Bool
    ) {
        self.snapshot = snapshot
        self.live = live
        self.dead = dead
        self.isExact = isExact
        ledger = LinkLedger(hash, isExact: isExact)
        searchesObjects = isExact
        embedded = Set(snapshot.tables.filter { $0.kind == .embedded }.map(\.key))
        let limit = snapshot.space.limit
        owners = live.filter { [embedded] in embedded.contains($0.key) }.mapValues { OwnerCounts($0, limit: limit) }
    }

    // MARK: - Links

    /// Enters links, and reports those whose target does not exist.
    mutating func add(_ links: [Link], _ report: inout VerifyReport) {
        report.statistics.links += links.count
        for link in links {
            ledger.add(
                link.originKey, link.targetKey,
                ledger.page(origin: link.origin, column: link.column, target: link.target))
            guard let known = targets(link.target, link.targetKey) else {
                report.error("\(describe(link)): the target table does not exist")
                continue
            }
            if !known.contains(link.targetKey) { report.error("\(describe(link)): the target object does not exist") }
            noteNesting(link)
        }
    }

    /// Returns the keys among which that of a target has to be; nil for a table that does not exist.
    private func targets(_ table: TableKey, _ key: ObjectKey) -> VerifiedKeys? {
        key.rawValue >= 0 ? live[table] : dead[table]
    }

    /// Notes a link from one embedded object to another.
    private mutating func noteNesting(_ link: Link) {
        guard embedded.contains(link.target), embedded.contains(link.origin) else { return }
        guard searchesObjects else { return noteNesting(of: link.target, in: link.origin) }
        cycles.add(
            .init(table: link.origin, object: link.originKey), holds: .init(table: link.target, object: link.targetKey))
    }

    /// Notes that objects of one embedded class hold some of another, or of the same.
    private mutating func noteNesting(of target: TableKey, in origin: TableKey) {
        guard embedded.contains(target), embedded.contains(origin), nested.insert([origin, target]).inserted else { return }
        cycles.add(.init(table: origin, object: .null), holds: .init(table: target, object: .null))
    }

    // MARK: - Leaves of links

    /// Returns whether all targets in a leaf of links exist. Links to nothing have none.
    func targetsExist(_ links: LinkLeaf) -> Bool {
        guard !isExact, let live = live[links.targetTable], let dead = dead[links.targetTable] else { return false }
        return (0..<links.count).allSatisfy { row in
            let target = links.key(row)
            return target.rawValue >= 0 ? live.contains(target) : target.isNull || dead.contains(target)
        }
    }

    /// Enters the links of a column of single links, whose targets exist.
    ///
    /// - Parameters:
    ///   - origins: The cluster leaf of the objects that hold them.
    ///   - place: The table and the leaf index of the column.
    mutating func add(
        _ links: LinkLeaf, of origins: ClusterLeaf, in place: (table: TableKey, column: Int), _ report: inout VerifyReport
    ) {
        enter(links, place, &report) { origins.key(at: $0) }
    }

    /// Enters the links in a list or set of one object, whose targets exist.
    ///
    /// - Parameters:
    ///   - origin: The object that holds the list.
    ///   - place: The table and the leaf index of the column.
    mutating func add(
        _ links: LinkLeaf, in origin: ObjectKey, _ place: (table: TableKey, column: Int), _ report: inout VerifyReport
    ) {
        enter(links, place, &report) { _ in origin }
    }

    /// Enters the links of a leaf.
    ///
    /// - Parameters:
    ///   - links: The links, whose targets exist.
    ///   - place: The table and the leaf index of the column.
    ///   - origin: Returns the object that holds the link in a row.
    @inline(__always)
    private mutating func enter(
        _ links: LinkLeaf, _ place: (table: TableKey, column: Int), _ report: inout VerifyReport,
        originOf origin: (Int) -> ObjectKey
    ) {
        let page = ledger.page(origin: place.table, column: place.column, target: links.targetTable)
        var count = 0
        for row in 0..<links.count {
            let target = links.key(row)
            guard !target.isNull else { continue }
            ledger.add(origin(row), target, page)
            count += 1
        }
        report.statistics.links += count
        if count > 0 { noteNesting(of: links.targetTable, in: place.table) }
    }

    // MARK: - Backlinks

    /// Enters the backlinks of one column of a leaf, and counts the owners of embedded objects.
    ///
    /// - Parameters:
    ///   - table: The table of the targets.
    ///   - leaf: The leaf whose objects are the targets.
    /// - Throws: `.corrupt` for a damaged list of backlinks.
    mutating func addBacklinks(_ table: Table, _ column: Column, _ leaf: ClusterLeaf) throws(StorageError) {
        let slots = try leaf.attachRefs(column)
        let page = ledger.page(
            origin: column.targetTable ?? .null, column: column.oppositeColumn?.leafIndex ?? -1, target: table.key)
        // Taken out, so that it is not looked up for each link.
        var counts = owners.removeValue(forKey: table.key)
        defer { owners[table.key] = counts }
        for row in 0..<leaf.count {
            let target = leaf.key(at: row)
            let raw = isExact ? 0 : try slots.rawSlot(row)
            if raw & 1 == 1 {
                ledger.subtract(ObjectKey(Int64(raw >> 1)), target, page)
                counts?.add(target)
            } else if isExact || raw != 0 {
                for origin in try leaf.backlinks(column, row: row).keys() {
                    ledger.subtract(origin, target, page)
                    counts?.add(target)
                }
            }
        }
    }

    // MARK: - Reports

    /// The check for a second walk over all objects, which finds out what this one leaves open; nil where all is known.
    var secondWalk: LinkCheck? {
        guard !isExact, !ledger.isEven || cycles.objectsWithoutEnd() > 0 else { return nil }
        return LinkCheck(continuing: self)
    }

    /// Makes the check for the second walk.
    private init(continuing first: LinkCheck) {
        snapshot = first.snapshot
        live = first.live
        dead = first.dead
        embedded = first.embedded
        ledger = LinkLedger(unevenOf: first.ledger)
        owners = [:]
        searchesObjects = first.cycles.objectsWithoutEnd() > 0
        isExact = true
    }

    /// Takes over what was found out in the second walk.
    mutating func finish(_ second: LinkCheck) {
        ledger = second.ledger
        cycles = second.cycles
    }

    /// Reports links and backlinks that do not match, and embedded objects that do not have exactly
    /// one owner, or hold themselves.
    func report(_ report: inout VerifyReport) {
        reportLinks(&report)
        reportOwners(&report)
    }

    /// Reports links and backlinks that do not match.
    private func reportLinks(_ report: inout VerifyReport) {
        for (link, count) in ledger.uneven {
            if count > 0 {
                report.error("link without backlink (\(count)): \(describe(link))")
                continue
            }
            func text() -> String { "backlink without link (\(-count)): \(describe(link))" }
            let source = snapshot.table(link.origin)?.columns.first { $0.leafIndex == link.column }
            // The reference engine leaves these when a collection nested in Mixed is overwritten.
            if source == nil || source?.type == .mixed { report.warn(text()) } else { report.error(text()) }
        }
    }

    /// Reports embedded objects that do not have exactly one owner, or hold themselves.
    private func reportOwners(_ report: inout VerifyReport) {
        for table in snapshot.tables {
            guard let owners = owners[table.key], let keys = live[table.key], !owners.areAllOne else { continue }
            keys.forEach(in: table.objects) { key in
                let count = owners.count(of: key)
                if count != 1 { report.warn("\(table.name): embedded object \(key.rawValue) has \(count) owners") }
            }
        }
        let count = cycles.objectsWithoutEnd()
        if count > 0 { report.error("\(count) embedded objects hold themselves, or lie in such ones") }
    }

    /// Returns a link in words, with names and keys but without values.
    private func describe(_ link: Link) -> String {
        let origin = snapshot.table(link.origin)
        let column = origin?.columns.first { $0.leafIndex == link.column }?.name ?? "column \(link.column)"
        let target = snapshot.table(link.target)?.name ?? "table \(link.target.rawValue)"
        return "\(origin?.name ?? "table \(link.origin.rawValue)").\(column) object \(link.originKey.rawValue)"
            + " -> \(target) object \(link.targetKey.rawValue)"
    }
}

/// Finds embedded objects that hold themselves, directly or through others. A reader that follows them would never end.
///
/// No object outside holds such objects, so a walk from top-level objects does not reach them. The check removes objects
/// without owners again and again; those that remain are in cycles, or held by some that are.
struct EmbeddedCycleCheck {
    /// An embedded object.
    struct Place: Hashable {
        /// The table of the embedded object.
        let table: TableKey
        let object: ObjectKey
    }

    /// The objects that each object holds.
    private var held: [Place: [Place]] = [:]
    /// How many objects hold each object.
    private var owners: [Place: Int] = [:]

    /// Records that `owner` holds `object` in one of its properties.
    ///
    /// - Parameters:
    ///   - object: The object that is held, which may be the owner itself.
    mutating func add(_ owner: Place, holds object: Place) {
        held[owner, default: []].append(object)
        owners[object, default: 0] += 1
    }

    /// Returns how many objects are in cycles or held by some that are.
    ///
    /// - Complexity: O(number of recorded pairs).
    func objectsWithoutEnd() -> Int {
        var open = owners
        var free = held.keys.filter { open[$0] == nil }
        while let owner = free.popLast() {
            for object in held[owner] ?? [] {
                guard let count = open[object] else { continue }
                open[object] = count == 1 ? nil : count - 1
                if count == 1 { free.append(object) }
            }
        }
        return open.count
    }
}

/// How many objects hold each embedded object of a class.
struct OwnerCounts {
    /// The keys of the embedded objects.
    private let keys: VerifiedKeys
    private let usesSlots: Bool
    /// The number of owners by slot, up to `maximum`; empty where objects have no slots.
    private var counts: [UInt8]
    /// The number of owners of objects that have more, or have no slots.
    private var others: [ObjectKey: Int] = [:]

    /// The greatest number that is kept by slot; objects with as many owners are among the others.
    private static let maximum: UInt8 = .max

    /// Makes counts of zero.
    ///
    /// - Parameters:
    ///   - keys: The keys of all objects of the class.
    ///   - limit: The size of the file in bytes. Links take some, so a class with more objects has
    ///     few that have owners.
    init(_ keys: VerifiedKeys, limit: UInt64) {
        self.keys = keys
        usesSlots = keys.hasSlots && UInt64(keys.slotCount) <= limit
        counts = [UInt8](repeating: 0, count: usesSlots ? keys.slotCount : 0)
    }

    /// Counts an owner of an object; one of no object of the class is not counted.
    @inline(__always) mutating func add(_ object: ObjectKey) {
        guard usesSlots, let slot = keys.slot(of: object), counts[slot] < OwnerCounts.maximum else { return addOther(object) }
        counts[slot] += 1
    }

    /// Counts an owner that is not counted by slot.
    private mutating func addOther(_ object: ObjectKey) {
        if keys.contains(object) { others[object, default: 0] += 1 }
    }

    /// Whether each object has exactly one owner.
    var areAllOne: Bool {
        usesSlots && others.isEmpty && counts.reduce(0) { $0 + Int($1) } == keys.count && counts.allSatisfy { $0 <= 1 }
    }

    func count(of object: ObjectKey) -> Int {
        (usesSlots ? keys.slot(of: object).map { Int(counts[$0]) } ?? 0 : 0) + (others[object] ?? 0)
    }
}
