// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The remains of the past in a file: former versions, deleted objects and former values.
///
/// A recovery reads only. It states nothing that the file does not prove to have been: what nothing speaks for is marked, and
/// what was written over is named and never filled in. Equal files give equal results.
///
/// Source: docs/recovery.md.
package final class Recovery {
    let file: EvidenceFile
    /// The targets and limits of the search.
    let options: Recovery.Options
    /// The header of the file.
    let header: EvidenceHeader
    /// The bytes.
    let map: SpaceMap
    /// The known tables.
    let catalog = TableCatalog()
    private(set) var present: FormerVersion
    /// The former and unfinished versions by ascending number.
    private(set) var versions: [FormerVersion] = []
    /// The number of top nodes that were not examined, because there are too many.
    private(set) var otherTopCount = 0
    /// Whether a commit after the present version began to write and was cut short.
    package private(set) var isCommitCutShort = false
    /// The damage of the present version; nil for a sound one.
    private(set) var presentDamage: String?
    /// The number of leaves that no version leads to.
    private(set) var orphanCount = 0
    /// The states that were found, by class.
    package private(set) var lines: [RecoveredLine] = []
    /// The parts that were not examined, with reasons.
    package private(set) var incomplete: [String] = []
    /// The seconds that the search took.
    private(set) var seconds = 0.0

    /// The most top nodes that are examined.
    private static let maximumTops = 1000
    /// The most ranges of free space of all versions that are kept.
    private static let maximumFreeBlocks = 1 << 22

    /// Searches a file.
    ///
    /// - Parameters:
    ///   - options: The targets and limits of the search.
    /// - Throws: `.refused` for a file that is no Realm file or has a format that is not read.
    package init(_ file: EvidenceFile, _ options: Recovery.Options = Recovery.Options()) throws(StorageError) {
        let start = Instant.now()
        self.file = file
        self.options = options
        header = try EvidenceHeader(file)
        presentDamage = header.damage
        let budget = SearchBudget(byteCount: file.plain.count, seconds: options.seconds, resultBytes: options.resultBytes)
        map = SpaceMap(file.plain, unreadablePages: file.unreadablePages, budget: budget)
        let reader = NodeReader(map, format: header.format, clusterShift: options.clusterShift) { _, _ in nil }
        present = FormerVersion(FormerTop(unreadableAt: header.top, number: 1), .present, isUnfinished: false, reader: reader)
        search(reader)
        if let reason = budget.anyReason { incomplete.append(reason) }
        if otherTopCount > 0 { incomplete.append("\(otherTopCount) older top nodes were not examined") }
        if file.hasLostBytes { incomplete.append("the file became shorter while it was read") }
        seconds = Instant.now().seconds(since: start)
    }

    /// Searches in order: newest versions first, then what no version leads to, so that a stop costs the least.
    private func search(_ reader: NodeReader) {
        var freeBlocks = Recovery.maximumFreeBlocks
        var presentTop: FormerTop?
        if header.top != 0 {
            if let damage = map.markPresent(from: header.top), presentDamage == nil { presentDamage = damage.text }
            do throws(Loss) {
                let top = try FormerTop(at: header.top, in: map, isPresent: true, freeBlocks: &freeBlocks)
                presentTop = top
                if top.logicalSize > map.limit, presentDamage == nil {
                    presentDamage = "the file is cut short: \(top.logicalSize) bytes are needed"
                }
            } catch {
                presentDamage = presentDamage ?? error.text
            }
        }
        map.findHeaders()
        map.findFreeLists()
        catalog.collectNames(map, NodeReader(map, format: header.format, clusterShift: 8) { [map] in map.damage($0, $1) })
        var tops = findTops(presentTop, freeBlocks: &freeBlocks)
        let top = presentTop ?? FormerTop(unreadableAt: header.top, number: (tops.map(\.top.number).max() ?? 0) + 1)
        present = FormerVersion(top, .present, isUnfinished: false, reader: reader)
        tops.removeAll { $0.top.number > top.number + ($0.isInHeader ? 1 : 0) }
        tops.sort { ($0.top.number, $0.top.ref) < ($1.top.number, $1.top.ref) }
        if tops.count > Recovery.maximumTops {
            otherTopCount = tops.count - Recovery.maximumTops
            tops.removeFirst(otherTopCount)
        }
        for (index, found) in tops.enumerated().reversed() {
            if let full = try? FormerTop(at: found.top.ref, in: map, freeBlocks: &freeBlocks) { tops[index].top = full }
        }
        versions = tops.map { found in
            let isUnfinished = found.top.number >= top.number
            return FormerVersion(found.top, found.isInHeader ? .header : .scan, isUnfinished: isUnfinished, reader: reader)
        }
        let reading = VersionReading(self, chain: makeChain())
        reading.read()
        if !options.onlyVersions { findStates(reading) }
    }

    /// A top node that was found.
    private struct FoundTop {
        /// The node.
        var top: FormerTop
        /// Whether the other slot of the header names it.
        let isInHeader: Bool
    }

    /// Returns the top nodes in unused space, without their free space.
    private func findTops(_ present: FormerTop?, freeBlocks: inout Int) -> [FoundTop] {
        var tops: [FoundTop] = []
        var none = 0
        map.forEachHeader { node in
            guard node.hasRefs, !node.isInner, node.count <= 12, node.count >= 3, map.damage(node.ref, node.byteCount) == nil,
                let top = try? FormerTop(at: node.ref, in: map, freeBlocks: &none)
            else { return }
            tops.append(FoundTop(top: top, isInHeader: node.ref == header.otherTop))
        }
        return tops
    }

    // MARK: - Commits

    /// Makes the chain of versions with known free space, and finds out whether a commit was cut short.
    private func makeChain() -> VersionChain {
        var counts: [UInt64: Int] = [:]
        for version in versions where !version.isUnfinished { counts[version.number, default: 0] += 1 }
        for version in versions {
            // One of two tops with one number is of an interrupted commit. Only the header shows which.
            version.isTwin = (counts[version.number] ?? 0) > 1 && version.source != .header && !version.isUnfinished
        }
        let dating = versions.filter { version in
            guard !version.isTwin else { return false }
            return !version.isUnfinished || version.source == .header && version.number == present.number + 1
        }
        let isUnfinishedKnown = dating.contains { $0.number > present.number && $0.top.free != nil }
        isCommitCutShort = isUnfinishedKnown || wasCutShort()
        return VersionChain(dating.map(\.top), present: present.top, isCutShort: isCommitCutShort, budget: map.budget)
    }

    /// Returns whether the version before the present one, which is whole otherwise, is not.
    private func wasCutShort() -> Bool {
        guard let other = header.otherTop, present.number >= 3, presentDamage == nil else { return false }
        guard let before = versions.first(where: { $0.top.ref == other && $0.number == present.number - 1 }) else { return true }
        guard map.extents(below: before.top.ref) != nil else { return true }
        return countersRunBack(before.top)
    }

    /// Returns whether a table of the version before has a higher counter than the present one: then its node is of a later
    /// commit.
    private func countersRunBack(_ before: FormerTop) -> Bool {
        guard let now = counters(present.top), let then = counters(before) else { return true }
        return then.contains { key, numbers in now[key].map { zip(numbers, $0).contains { $0 > $1 } } ?? false }
    }

    /// Returns the counters of the tables of a version by their keys; nil when one cannot be read.
    private func counters(_ top: FormerTop) -> [UInt64: [UInt64]]? {
        guard let list = try? map.node(at: top.tablesRef) else { return nil }
        var counters: [UInt64: [UInt64]] = [:]
        for position in 0..<list.count {
            guard let ref = list.child(position) else { continue }
            guard let table = try? map.node(at: ref) else { return nil }
            guard let key = table.number(inSlot: 3) else { continue }
            counters[key] = [5, 6, 9].map { table.number(inSlot: $0) ?? 0 }
        }
        return counters
    }

    // MARK: - States

    /// Finds the states of all versions, and of what no version leads to.
    private func findStates(_ reading: VersionReading) {
        let evidence = LeafEvidence(versions, present: present, index: reading.index, chain: reading.chain, map: map)
        reading.placeWrittenLeaves(evidence)
        let roles = reading.roles()
        let states = StateReader(
            map: map, chain: reading.chain, evidence: evidence, present: present, index: reading.index, catalog: catalog,
            wantedClass: options.className)
        let newestFirst = versions.enumerated().sorted { ($1.element.number, $0.offset) < ($0.element.number, $1.offset) }.map(
            \.element)
        reading.refuseConflicts(roles)
        for version in newestFirst {
            for rows in version.leaves { states.learnKeys(rows, version.reader) }
        }
        for version in newestFirst where !map.budget.isUsedUp {
            for rows in version.leaves { states.read(rows, in: version, version.reader, .version) }
            for rows in reading.sharedRows(version) { states.read(rows, in: version, present.reader, .version) }
        }
        if !map.budget.isUsedUp { findOrphans(reading, roles, states) }
        let found = states.takeStates(from: 0)
        map.budget.beginLastPart()
        let merge = StateMerge(states, includesPresent: options.includesPresent)
        let (lines, dropped) = merge.lines(of: found)
        self.lines = lines
        if dropped > 0 {
            incomplete.append("\(dropped) states are left out, as they could not be compared with the present version")
        }
    }

    /// Finds the states of leaves that no version leads to.
    private func findOrphans(_ reading: VersionReading, _ roles: NodeRoles, _ states: StateReader) {
        let (map, chain) = (map, reading.chain)
        // Nodes of no known version are older than the unbroken run of known ones; nodes written in that run are not theirs.
        let distrust: (UInt64, UInt64) -> Loss? = { ref, byteCount in
            if let loss = map.damage(ref, byteCount) { return loss }
            if case .gone(let version) = chain.survival(ref, byteCount, in: chain.runStart) { return .usedAgain(by: version) }
            return nil
        }
        let reader = NodeReader(map, format: header.format, clusterShift: options.clusterShift, distrust: distrust)
        let orphans = OrphanSearch(map, catalog: catalog, index: reading.index, versions: versions, reader: reader).orphans()
        for orphan in orphans { roles.add(orphan.rows) }
        reader.distrust = { [unowned reader] ref, byteCount in
            if let loss = distrust(ref, byteCount) { return loss }
            return reader.isStrict && roles.conflicted.contains(ref) ? .usedForSomethingElse : nil
        }
        // Links to embedded objects are read after these.
        for orphan in orphans where orphan.rows.table.isEmbedded {
            states.read(orphan.rows, in: nil, reader, orphan.origin, isOffsetKnown: orphan.isOffsetKnown)
        }
        for orphan in orphans where !orphan.rows.table.isEmbedded {
            states.read(orphan.rows, in: nil, reader, orphan.origin, isOffsetKnown: orphan.isOffsetKnown)
        }
        orphanCount = orphans.count
    }
}

extension Recovery {
    /// The targets and limits of a recovery.
    package struct Options: Sendable {
        /// The class whose states are wanted; nil for all.
        package var className: String?
        /// Whether present states are lines too.
        package var includesPresent = false
        /// Whether only the versions are wanted, and no states.
        package var onlyVersions = false
        /// The seconds after which the search ends with what it has found.
        package var seconds: Double = 120
        /// The most bytes of values that are kept in memory.
        package var resultBytes = 1 << 29
        /// The binary logarithm of the number of rows of a leaf; 8 in files of all released SDKs.
        package var clusterShift = 8

        /// Makes options with the values that a command without options has.
        package init() {}
    }
}
