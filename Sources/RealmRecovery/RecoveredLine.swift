// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A state of an object as recovery states it: in which versions it was, how sure it is, and what of it is lost.
package struct RecoveredLine {
    /// The fate of the object, or the origin of the state.
    package enum Kind: String, CaseIterable, Sendable {
        /// The object lives, and has other values now.
        case changed
        /// The object lives no more.
        case deleted
        /// A present state.
        case present
        /// It is not known which object the row is of.
        case unattributed
        /// The state is of a commit that never counted.
        case unfinished
    }

    /// The degree of certainty of a state.
    package enum Certainty: String, CaseIterable, Sendable {
        /// The version is proved to have had this state.
        case a = "A"
        /// A former version leads to it, and something is lost or not proved.
        case b = "B"
        /// Nothing leads to it any more, or the names of its properties are gone.
        case c = "C"
        /// A present state.
        case live
    }

    /// The state that says the most.
    let best: RecoveredState
    /// The fate of the object.
    package let kind: Kind
    package let certainty: Certainty
    /// The versions that are proved to have had the state, ascending.
    package let versions: [UInt64]
    /// The versions that may have had it, ascending.
    package let unprovenVersions: [UInt64]
    /// The names of the properties that are not proved, in the order of their bytes.
    package let unproven: [String]
    /// The primary key, or the key of an object without one; nil where it is not known.
    package let key: String?
    /// The key according to uncertain keys.
    let possibleKey: String?

    package var className: String { best.leaf.table.className }
    /// The key of the object in its table.
    var objectKey: Int64? { best.objectKey }

    /// Makes a line of the states that say the same, the fullest first.
    init(_ members: [RecoveredState], isPresent: Bool, livesNow: Bool, _ catalog: TableCatalog) {
        let best = members[0]
        let isVersion = best.leaf.origin == .version
        let isUnfinished = isVersion && members.allSatisfy(\.leaf.isUnfinished)
        self.best = best
        let columns = best.knownColumns
        func isProved(_ index: Int, in state: RecoveredState) -> Bool {
            let name = best.leaf.columns[index].name
            let place = state.leaf === best.leaf ? index : state.leaf.columnIndex(name)
            return place.map { state.leaf.columns[$0].strength == .proved && state.loss(at: $0) == nil } ?? false
        }
        let open = columns.filter { index in !members.contains { isProved(index, in: $0) } }
        // A version counts as proved where it is proved for all that the line states as proved.
        var (proved, others) = (Set<UInt64>(), Set<UInt64>())
        for state in members {
            let isSure = columns.allSatisfy { open.contains($0) || isProved($0, in: state) }
            for sighting in state.leaf.sightings where isUnfinished || !sighting.isUnfinished {
                if isSure, sighting.isDated { proved.insert(sighting.version) } else { others.insert(sighting.version) }
            }
        }
        versions = isPresent ? [] : proved.sorted()
        unprovenVersions = isPresent ? [] : others.subtracting(proved).sorted()
        unproven = isPresent ? [] : open.map { best.leaf.columns[$0].name }.sorted()
        let isComplete = columns.count == best.leaf.columns.count
        if isPresent {
            certainty = .live
        } else if best.leaf.table.schemaSource == .inferred {
            certainty = .c
        } else if isVersion, !versions.isEmpty, isComplete, open.isEmpty, !best.isUnattributed {
            certainty = .a
        } else {
            certainty = best.leaf.origin == .version || best.leaf.origin == .parent ? .b : .c
        }
        if isPresent {
            kind = .present
        } else if isUnfinished {
            kind = .unfinished
        } else {
            kind = best.isUnattributed ? .unattributed : livesNow ? .changed : .deleted
        }
        if best.primaryKey == nil, let key = best.objectKey, !catalog.hasPrimaryKey(best.leaf.table.key) {
            self.key = "@k\(key)"
        } else {
            key = best.primaryKey
        }
        possibleKey = key == nil ? best.guess : nil
    }

    /// Returns the line as JSON.
    ///
    /// - Parameters:
    ///   - hasEvidence: Whether the nodes of the values are listed.
    package func json(id: String, hasEvidence: Bool) -> [UInt8] {
        var text = Array("{".utf8)
        text.append(member: "id", string: id)
        text.append(member: "class", string: className)
        text.append(member: "key")
        if let key { text.append(string: key) } else { text.append(json: "null") }
        text.append(member: "objectKey")
        if let objectKey { text.append(digitsOf: objectKey) } else { text.append(json: "null") }
        text.append(member: "kind", string: kind.rawValue)
        text.append(member: "certainty", string: certainty.rawValue)
        text.append(member: "versions", array: versions) { $0.append(digitsOf: $1) }
        if !unprovenVersions.isEmpty {
            text.append(member: "versionsUnproven", array: unprovenVersions) { $0.append(digitsOf: $1) }
        }
        text.append(member: "source", string: best.leaf.origin.name)
        text.append(member: "leaf")
        text.append(ref: best.leaf.ref)
        text.append(member: "values")
        text.append(UInt8(ascii: "{"))
        for index in best.leaf.columns.indices {
            guard let value = best.value(at: index) else { continue }
            text.append(member: best.leaf.columns[index].name)
            text += value
        }
        text.append(UInt8(ascii: "}"))
        appendLosses(to: &text)
        if !unproven.isEmpty { text.append(member: "unproven", array: unproven) { $0.append(string: $1) } }
        if let possibleKey { text.append(member: "possibleKey", string: possibleKey) }
        if best.leaf.table.schemaSource == .inferred { text.append(member: "schema", string: "inferred") }
        if hasEvidence { appendEvidence(to: &text) }
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// The known values as JSON by property, in the order of the columns.
    package var values: [(name: String, json: ArraySlice<UInt8>)] {
        best.leaf.columns.indices.compactMap { index in best.value(at: index).map { (best.leaf.columns[index].name, $0) } }
    }

    /// The names of the properties whose values are not known, with hints or without.
    package var unknown: [String] {
        best.leaf.columns.indices.filter { best.value(at: $0) == nil }.map { best.leaf.columns[$0].name }
    }

    /// Whether the names and types of the properties are gone.
    package var isInferred: Bool { best.leaf.table.schemaSource == .inferred }

    /// The lost properties with the reasons, in the order of the columns; those with a hint are not among them.
    package var losses: [(name: String, reason: String)] {
        best.leaf.columns.indices.compactMap { index in
            guard best.possible(at: index) == nil, let loss = best.loss(at: index) else { return nil }
            return (best.leaf.columns[index].name, loss.text)
        }
    }

    /// Appends what is lost, and what lost values might be.
    private func appendLosses(to text: inout [UInt8]) {
        if !losses.isEmpty {
            text.append(member: "lost")
            text.append(UInt8(ascii: "{"))
            for (name, reason) in losses { text.append(member: name, string: reason) }
            text.append(UInt8(ascii: "}"))
        }
        let hints = best.leaf.columns.indices.compactMap { index in
            best.possible(at: index).map { (best.leaf.columns[index].name, $0) }
        }
        guard !hints.isEmpty else { return }
        text.append(member: "possible")
        text.append(UInt8(ascii: "{"))
        for (name, value) in hints {
            text.append(member: name)
            text += value
        }
        text.append(UInt8(ascii: "}"))
    }

    /// Appends the nodes of the leaf with the evidence of each.
    private func appendEvidence(to text: inout [UInt8]) {
        text.append(member: "nodes")
        text.append(UInt8(ascii: "{"))
        func append(_ name: String, _ ref: UInt64, _ strength: LeafEvidence.Strength) {
            text.append(member: name)
            text.append(UInt8(ascii: "{"))
            text.append(member: "at")
            text.append(ref: ref)
            text.append(member: "evidence", string: strength.rawValue)
            text.append(UInt8(ascii: "}"))
        }
        append("$keys", best.leaf.keysRef ?? best.leaf.ref, best.leaf.keysStrength)
        for column in best.leaf.columns where column.ref != 0 { append(column.name, column.ref, column.strength) }
        text.append(UInt8(ascii: "}"))
    }
}
