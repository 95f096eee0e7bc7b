// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Makes states of the rows of leaves: which object a row is of, what its values are, and how sure they are.
final class StateReader {
    /// The bytes.
    let map: SpaceMap
    /// The possible writes of commits.
    let chain: VersionChain
    /// Why children of leaves are believed.
    let evidence: LeafEvidence
    let present: FormerVersion
    /// The same, as far as unused space names it.
    let index: PresentIndex
    /// The known tables.
    let catalog: TableCatalog
    /// The primary keys.
    let keys: KeyBook
    /// The class whose states are kept; nil for all.
    let wantedClass: String?

    /// The states that were found, in order.
    private(set) var states: [RecoveredState] = []
    /// The leaves of former versions that were read, but for those with embedded objects.
    private var leaves: [LeafPlace: RecoveredLeaf] = [:]
    /// The leaves whose primary keys were noted.
    private var learned: Set<LeafPlace> = []
    /// The known states of embedded objects outside of the present version.
    private var embedded: [ObjectPlace: [[UInt8]]] = [:]
    /// Whether something that was written is less sure than the column that it is part of.
    private var isTainted = false

    /// Whether the leaf that is read is an orphan.
    private var readsOrphan = false

    /// The most embedded columns that are kept decoded.
    private static let maximumDecodedColumns = 512
    /// The most objects around an embedded one.
    private static let maximumDepth = 60

    init(
        map: SpaceMap, chain: VersionChain, evidence: LeafEvidence, present: FormerVersion, index: PresentIndex,
        catalog: TableCatalog,
        wantedClass: String?
    ) {
        (self.map, self.chain, self.evidence, self.present) = (map, chain, evidence, present)
        (self.index, self.catalog, self.wantedClass) = (index, catalog, wantedClass)
        keys = KeyBook(index, reader: present.reader)
    }

    // MARK: - Keys

    /// Notes the primary keys of the rows of a leaf, if they are proved.
    func learnKeys(_ rows: LeafRows, _ reader: NodeReader) {
        guard let column = rows.table.primaryKey, !map.present.contains(rows.node.ref), rows.isPlaced,
            learned.insert(LeafPlace(rows)).inserted, let ref = rows.column(column.index)
        else { return }
        let (strength, objectKeys) = evidence.keys(of: rows)
        guard strength == .proved, evidence.strength(ref, in: rows, slot: column.index + 1) == .proved else { return }
        for (objectKey, key) in zip(objectKeys, KeyBook.keys(of: rows, column, reader)) {
            if let key { keys.add(key, ObjectPlace(table: rows.table.key, key: objectKey)) }
        }
    }

    // MARK: - Columns

    /// Returns the values of a column and how sure they are.
    private func decode(_ column: FormerColumn, _ rows: LeafRows, _ reader: NodeReader) -> DecodedColumn {
        if map.present.contains(rows.node.ref) {
            return DecodedColumn(cells: present.reader.cells(column, rows), strength: .proved, possible: [:])
        }
        guard let ref = rows.column(column.index) else {
            return DecodedColumn(cells: reader.cells(column, rows), strength: .maybe, possible: [:])
        }
        let slot = column.index + 1
        let strength = evidence.strength(ref, in: rows, slot: slot)
        if strength != .proved, let loss = evidence.contradiction(ref, in: rows, slot: slot) {
            return DecodedColumn(cells: NodeReader.lost(loss, rows.count), strength: strength, possible: [:])
        }
        (reader.isStrict, reader.allowsNested) = (strength == .maybe, strength.isSure)
        defer { (reader.isStrict, reader.allowsNested) = (true, true) }
        var cells = reader.cells(column, rows)
        let possible =
            strength.isSure ? [:] : takeFormless(column, ref, in: rows, isSupported: strength == .supported, from: &cells)
        return DecodedColumn(cells: cells, strength: strength, possible: possible)
    }

    /// Takes values out whose nodes have no form of their own and are not proved: lists of plain integers look the same whatever
    /// they are.
    private func takeFormless(
        _ column: FormerColumn, _ ref: UInt64, in rows: LeafRows, isSupported: Bool, from cells: inout [DecodedColumn.Cell]
    ) -> [Int: StoredValue] {
        var possible: [Int: StoredValue] = [:]
        let isNumber = [.int, .bool, .timestamp, .link].contains(column.kind) && !column.isCollection
        if readsOrphan, isNumber, !isSupported {
            // Arrays of numbers look the same whatever they are, and no version says anything about an orphan.
            for row in cells.indices {
                guard case .value(let value) = cells[row] else { continue }
                possible[row] = value
                cells[row] = .lost(.unproved)
            }
            return possible
        }
        if column.kind == .mixed, !column.isCollection {
            // Numbers and pairs of numbers lie in arrays without a form of their own.
            for row in cells.indices {
                guard case .value(let value) = cells[row], value.hasFormlessPayload else { continue }
                possible[row] = value
                cells[row] = .lost(.unproved)
            }
            return possible
        }
        guard let node = try? map.node(at: ref), node.hasRefs, node.count == rows.count,
            column.isCollection || node.hasContext && (column.kind == .string || column.kind == .data)
        else { return possible }
        let runs = [evidence.run(of: rows.node.ref), evidence.run(of: ref)]
        for row in cells.indices {
            guard let child = node.child(row), case .value(let value) = cells[row],
                !evidence.strength(child, in: rows, slot: column.index + 1).isSure,
                let root = try? map.node(at: child), !root.hasRefs, root.widthType == 0
            else { continue }
            let isInRuns = evidence.subtree(child)?.allSatisfy { node in
                evidence.run(of: node.ref).map { run in runs.contains { $0 == run } } ?? false
            }
            guard isInRuns != true else { continue }
            possible[row] = value
            cells[row] = .lost(.unproved)
        }
        return possible
    }

    // MARK: - Values as text

    /// Returns the value of a cell as JSON, as of a version; without a version what is the same in all of them.
    private func json(
        _ value: StoredValue, of column: FormerColumn, in version: FormerVersion?, depth: Int = 0
    ) -> Result<[UInt8], Loss> {
        let text = ValueText { table, key, depth, text throws(Loss) in
            try self.appendLink(ObjectPlace(table: table, key: key), in: version, depth: depth, to: &text)
        }
        do throws(Loss) { return .success(try text.json(value, of: column, depth: depth)) } catch { return .failure(error) }
    }

    /// Appends what a link leads to.
    private func appendLink(
        _ place: ObjectPlace, in version: FormerVersion?, depth: Int, to text: inout [UInt8]
    ) throws(Loss) {
        guard let table = version?.table(place.table) ?? catalog.table(place.table) else {
            throw .malformed("link to a table that is not known")
        }
        if table.isEmbedded { return text += try embeddedObject(place, table, in: version, depth: depth) }
        let key: String
        if table.primaryKey == nil {
            key = "@k\(place.key)"
        } else {
            let known = keys.keys(place)
            guard known.count == 1 else { throw .malformed("key of the link's target is not known") }
            key = known[0]
        }
        text.append(json: "{\"$link\":{\"class\":")
        text.append(string: table.className)
        text.append(json: ",\"key\":")
        text.append(string: key)
        text.append(json: "}}")
    }

    /// Returns an embedded object as JSON.
    private func embeddedObject(
        _ place: ObjectPlace, _ table: FormerTable, in version: FormerVersion?, depth: Int
    ) throws(Loss) -> [UInt8] {
        guard depth < StateReader.maximumDepth else { throw .malformed("nested too deeply") }
        guard let version else {
            // Of which time an orphan is, is not known: only what never changed can be stated.
            var known = embedded[place] ?? []
            if index.row(place) != nil {
                let now = try embeddedObject(place, table, in: present, depth: depth)
                if !known.contains(now) { known.append(now) }
            }
            guard known.count == 1 else { throw .malformed("embedded object of that time is not known") }
            isTainted = true
            return known[0]
        }
        let (rows, row, reader) = try embeddedRow(place, in: version)
        var text = Array("{".utf8)
        for column in table.columns {
            let decoded = decodedColumn(column, rows, in: map.present.contains(rows.node.ref) ? present : version, reader)
            if decoded.strength == .maybe { isTainted = true }
            guard row < decoded.cells.count, case .value(let value) = decoded.cells[row] else {
                throw .malformed("embedded object is lost in part")
            }
            text.append(member: column.name)
            text += try json(value, of: column, in: version, depth: depth + 1).get()
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    private func embeddedRow(_ place: ObjectPlace, in version: FormerVersion) throws(Loss) -> (LeafRows, Int, NodeReader) {
        if let (leaf, row) = version.embeddedRows[place] {
            let rows = version.leaves[leaf]
            if rows.node.child(0).map({ evidence.strength($0, in: rows, slot: 0) }) == .maybe { isTainted = true }
            // Another version of the same leaf may lie there.
            if chain.survival(rows.node.ref, rows.node.byteCount, in: version.number) != .untouched { isTainted = true }
            return (rows, row, version.reader)
        }
        guard let found = index.row(place), version === present || !version.sharedClusters.isDisjoint(with: found.path) else {
            throw .malformed("embedded object is lost")
        }
        return (found.rows, found.index, present.reader)
    }

    /// Returns a column of embedded objects, which many values refer to.
    private func decodedColumn(
        _ column: FormerColumn, _ rows: LeafRows, in version: FormerVersion, _ reader: NodeReader
    ) -> DecodedColumn {
        let place = DecodedColumn.Place(leaf: rows.node.ref, index: column.index)
        if let known = version.decodedColumns[place] { return known }
        let decoded = decode(column, rows, reader)
        version.decodedColumns[place] = decoded
        return decoded
    }

    /// Releases the data kept for the leaf before.
    private func forgetColumns(of version: FormerVersion?, _ reader: NodeReader) {
        for kept in [present, version].compactMap({ $0 }) {
            let isFull = kept.decodedColumns.count > StateReader.maximumDecodedColumns
            guard kept.reader.hasJoined || isFull else { continue }
            kept.decodedColumns.removeAll(keepingCapacity: true)
            kept.reader.forgetJoined()
        }
        reader.forgetJoined()
    }

    // MARK: - Rows

    /// Makes states of the rows of a leaf.
    ///
    /// - Parameters:
    ///   - version: The version that leads to it; nil for none.
    ///   - origin: How it was found.
    ///   - isOffsetKnown: Whether its place in the tree is known.
    func read(
        _ rows: LeafRows, in version: FormerVersion?, _ reader: NodeReader, _ origin: RecoveredLeaf.Origin,
        isOffsetKnown: Bool = true, columns wanted: Set<ByteText>? = nil
    ) {
        let table = rows.table
        guard table.isClass, table.isEmbedded || wantedClass == nil || table.className == wantedClass else { return }
        let sighting = version.map { version in
            RecoveredLeaf.Sighting(
                version: version.number, isDated: origin == .present || isDated(rows, in: version),
                isUnfinished: version.isUnfinished)
        }
        // Leaves are never changed in place, so what a version has in a leaf, all versions with this leaf have: but for embedded
        // objects,
        // which lie in leaves of their own.
        let isShared = origin == .version && !table.columns.contains { catalog.table($0.targetTable ?? 0)?.isEmbedded ?? false }
        let place = LeafPlace(rows)
        if isShared, let known = leaves[place], let sighting, known.hasSchema(of: table) { return known.add(sighting) }
        forgetColumns(of: version, reader)
        readsOrphan = origin.rawValue >= RecoveredLeaf.Origin.parent.rawValue
        var columns: [RecoveredLeaf.Column] = []
        var primaryKeys: [String?]?
        for column in table.columns where wanted?.contains(column.name) ?? true || column.index == table.primaryKeyIndex {
            guard map.budget.spend(1 + rows.count / 32) else { return }
            let decoded = decode(column, rows, reader)
            if column.index == table.primaryKeyIndex {
                primaryKeys = decoded.cells.map { if case .value(let value) = $0 { ValueText.key(value) } else { nil } }
            }
            columns.append(text(of: column, decoded, rows, in: version, origin))
        }
        let (keysStrength, objectKeys) = origin == .present ? (.proved, rows.keys) : evidence.keys(of: rows)
        let primary = columns.firstIndex { $0.name == table.primaryKey?.name }
        let isOffsetKnown = isOffsetKnown && isPlaceKnown(rows, origin, objectKeys, primaryKeys: primaryKeys)
        let hasObjectKeys = isOffsetKnown && keysStrength != .maybe
        var identities: [Identity] = []
        for (row, objectKey) in objectKeys.enumerated() {
            let identity = identity(
                hasObjectKeys ? objectKey : nil, table, primaryKeys.map { $0[row] },
                isKeySure: primary.map { columns[$0].strength != .maybe } ?? false,
                guess: isOffsetKnown ? objectKey : nil)
            if identity.contradictsKeys, let primary { columns[primary].lose(row, .usedForOtherObjects) }
            identities.append(identity)
        }
        if origin != .present { map.budget.keep(columns.reduce(64 * rows.count) { $0 + $1.bytes.count }) }
        let leaf = RecoveredLeaf(
            table: table, ref: rows.node.ref, keys: (rows.node.child(0), keysStrength), origin: origin, sighting: sighting,
            columns: columns)
        if isShared { leaves[place] = leaf }
        if table.isEmbedded { return keepEmbedded(leaf, identities) }
        for (row, identity) in identities.enumerated() where rows.rows?.contains(row) ?? true {
            states.append(
                RecoveredState(
                    leaf: leaf, row: row, objectKey: identity.objectKey, primaryKey: identity.primaryKey, guess: identity.guess))
        }
    }

    /// Returns the states from `start` on, and does not keep them.
    func takeStates(from start: Int) -> [RecoveredState] {
        defer { states.removeSubrange(min(start, states.count)...) }
        return Array(states[min(start, states.count)...])
    }

    /// Returns whether the place of a leaf in its tree, and its keys, are what they seem: what is known of its objects must not
    /// contradict them, and where the place is not proved something has to speak for it.
    private func isPlaceKnown(
        _ rows: LeafRows, _ origin: RecoveredLeaf.Origin, _ objectKeys: [Int64], primaryKeys: [String?]?
    ) -> Bool {
        let isOrphan = origin.rawValue >= RecoveredLeaf.Origin.parent.rawValue
        guard isOrphan || !rows.isPlaced || !evidence.isProved(rows.node.ref) else { return true }
        // Nothing proves the parents of an orphan, but for tables that never had another leaf.
        var isConfirmed = rows.isPlaced && (!isOrphan || catalog.hasRootLeavesOnly(rows.table.key, present.reader))
        guard let primaryKeys else { return isConfirmed || origin == .shared }
        for (objectKey, key) in zip(objectKeys, primaryKeys) {
            guard let key else { continue }
            let known = keys.keys(ObjectPlace(table: rows.table.key, key: objectKey))
            if known.contains(key) { isConfirmed = true } else if !known.isEmpty { return false }
        }
        return isConfirmed
    }

    /// Returns whether a version is proved to have had a leaf.
    private func isDated(_ rows: LeafRows, in version: FormerVersion) -> Bool {
        guard !version.isTwin else { return false }
        return chain.survival(rows.node.ref, rows.node.byteCount, in: version.number) == .untouched
    }

    /// Returns the values of a column as JSON.
    private func text(
        of column: FormerColumn, _ decoded: DecodedColumn, _ rows: LeafRows, in version: FormerVersion?,
        _ origin: RecoveredLeaf.Origin
    ) -> RecoveredLeaf.Column {
        var possible: [Int: [UInt8]] = [:]
        for (row, value) in decoded.possible {
            if case .success(let text) = json(value, of: column, in: version) { possible[row] = text }
        }
        isTainted = false
        var texts: [Result<[UInt8], Loss>] = []
        for (row, cell) in decoded.cells.enumerated() {
            switch cell {
            case .lost(let loss): texts.append(.failure(loss))
            case .value(let value):
                let isWanted = rows.rows?.contains(row) ?? true
                texts.append(isWanted ? json(value, of: column, in: version) : .failure(.unproved))
            }
        }
        var result = RecoveredLeaf.Column(
            name: column.name, ref: rows.column(column.index) ?? 0,
            strength: isTainted && origin != .present ? .maybe : decoded.strength)
        for text in texts { result.append(text) }
        for (row, text) in possible { result.setPossible(text, row: row) }
        return result
    }

    /// Which object a row is of.
    private struct Identity {
        /// The key of the object; nil where it is not known.
        var objectKey: Int64?
        /// The primary key; nil where it is not known.
        var primaryKey: String?
        /// The key according to uncertain keys.
        var guess: String?
        /// Whether the primary key of the row is not that of the object.
        var contradictsKeys = false
    }

    /// Returns which object a row is of.
    ///
    /// - Parameters:
    ///   - objectKey: The key of the object, if it is known.
    ///   - primaryKey: The primary key of the row, nil where it is lost; nil without a column of primary keys.
    ///   - isKeySure: Whether the column of primary keys is more than possible.
    ///   - guess: The key of the object that the leaf states.
    private func identity(
        _ objectKey: Int64?, _ table: FormerTable, _ primaryKey: String??, isKeySure: Bool, guess: Int64?
    ) -> Identity {
        var identity = Identity(objectKey: objectKey)
        guard case .some(var mine) = primaryKey else {
            if objectKey == nil { identity.guess = guess.map { "@k\($0)" } }
            return identity
        }
        let known = objectKey.map { keys.keys(ObjectPlace(table: table.key, key: $0)) } ?? []
        if let key = mine, !known.isEmpty, !known.contains(key) {
            identity.contradictsKeys = true
            mine = nil
        }
        if let key = mine, isKeySure || known.contains(key) || objectKey != nil && known.isEmpty {
            identity.primaryKey = key
        } else if mine == nil, known.count == 1 {
            identity.primaryKey = known[0]
        } else {
            identity.guess = mine
        }
        return identity
    }

    /// Keeps the states of embedded objects for links to them.
    private func keepEmbedded(_ leaf: RecoveredLeaf, _ identities: [Identity]) {
        guard leaf.origin != .present else { return }
        for (row, identity) in identities.enumerated() {
            guard let key = identity.objectKey else { continue }
            var text = Array("{".utf8)
            let isComplete = leaf.columns.allSatisfy { column in
                guard let value = column.value(row) else { return false }
                text.append(member: column.name)
                text += value
                return true
            }
            guard isComplete else { continue }
            text.append(UInt8(ascii: "}"))
            let place = ObjectPlace(table: leaf.table.key, key: key)
            if embedded[place]?.contains(text) != true { embedded[place, default: []].append(text) }
        }
    }
}

extension StateReader {
    /// Returns the states of rows of the present version, which are not kept.
    ///
    /// - Parameters:
    ///   - columns: The names of the properties that are read, the primary key apart; nil for all.
    func presentStates(_ rows: LeafRows, columns: Set<ByteText>? = nil) -> [RecoveredState] {
        let before = states.count
        read(rows, in: present, present.reader, .present, columns: columns)
        return takeStates(from: before)
    }
}
