// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The rights that one write of a restricted sender has to obey, and the objects to check at its end.
///
/// It belongs to a `WriteSession` and to its thread. Rules are evaluated on the state before the transaction as long as the write
/// cannot have changed their result: a view of the uncommitted state has to be made anew after each change.
final class WriteRestriction {
    /// A class and an action in it.
    private struct Case: Hashable {
        let table: TableKey
        let action: WriteAction
    }

    /// The properties of a class that an action cannot write, by the numbers of their columns in leaves.
    struct Fields {
        /// The properties that do not exist for the sender.
        var hidden: Set<Int> = []
        /// The properties that stay as they are.
        var readOnly: Set<Int> = []

        /// Whether all properties can be written.
        var isEmpty: Bool { hidden.isEmpty && readOnly.isEmpty }

        /// Returns whether a property cannot be written.
        func keep(_ column: Column) -> Bool { hidden.contains(column.leafIndex) || readOnly.contains(column.leafIndex) }
    }

    /// The rights, as far as they fit the schema.
    let rights: any WriteRights
    /// The state before the transaction, with everything.
    let base: Snapshot
    /// The part of that state that the sender may see.
    let shownBase: Snapshot
    /// The action of the write on the object at hand.
    var action = WriteAction.update
    /// Whether the sender saw the object at hand when the write came to it. It is asked where the object may have parts that the
    /// sender does not see.
    var seesObject = false
    /// Whether the sender sees the targets of links in the object at hand, as far as that was asked. To find it out after a change
    /// may need a view of the uncommitted state.
    var isHidden: [ObjectPlace: Bool] = [:]
    var made: Set<ObjectPlace> = []
    /// Returns whether earlier commits of the same request made an object.
    let wasMade: (ObjectPlace) -> Bool
    /// The first objects that the write came to in order to change them, without those that the request made.
    private(set) var updated: [ObjectPlace] = []
    /// The actions on objects that have to be checked at the end.
    private(set) var touched: [ObjectPlace: WriteAction] = [:]
    /// The objects of `touched` in the order in which the write came to them.
    private(set) var touchedOrder: [ObjectPlace] = []
    /// The objects that the transaction has changed so far, and the number of its changes that are among them.
    private var changed: (objects: Set<ObjectPlace>, count: Int) = ([], 0)
    /// The memory in bytes that the sets of objects take, about.
    var byteCount: Int {
        (made.count + updated.count + 2 * touched.count + changed.objects.count + isHidden.count) * 3
            * MemoryLayout<ObjectPlace>.stride
    }
    /// The rights that were asked for.
    private var allowances: [Case: WriteAllowance?] = [:]
    /// The properties that were asked for.
    private var fields: [Case: Fields] = [:]
    /// Whether objects of a class may have parts inside of them that the sender does not see or may not write.
    private var unseen: [Case: Bool] = [:]
    /// The rules for targets, on the state before the transaction.
    private var rules: [Case: ObjectRule] = [:]
    /// Whether a rule reads its own object alone.
    private var isLocal: [Case: Bool] = [:]
    /// Whether the rule for reading tests its own object alone.
    private var isSeenLocally: [TableKey: Bool] = [:]

    /// Makes the restriction of a write.
    ///
    /// - Parameters:
    ///   - rights: The rights of its sender.
    ///   - base: The state before the transaction.
    ///   - wasMade: Returns whether earlier commits of the same request made an object.
    init(_ rights: any WriteRights, _ base: Snapshot, wasMade: @escaping (ObjectPlace) -> Bool) {
        self.rights = rights.fitting(base)
        self.wasMade = wasMade
        self.base = base
        shownBase = self.rights.shown(of: base).map { Snapshot($0) } ?? base
    }

    // MARK: - Rights

    /// Returns whether the request made an object, which it may then complete and link to.
    func isOwn(_ place: ObjectPlace) -> Bool { made.contains(place) || wasMade(place) }

    /// Returns the right to an action in a class; nil when there is none.
    func allowance(_ action: WriteAction, _ table: TableState) -> WriteAllowance? {
        let key = Case(table: table.key, action: action)
        if let known = allowances[key] { return known }
        let allowance = rights.allowance(for: action, on: table.className, isEmbedded: table.kind == .embedded)
        allowances[key] = .some(allowance)
        return allowance
    }

    /// Returns the properties of a class that the action at hand cannot write.
    ///
    /// - Parameters:
    ///   - knowsTarget: Returns whether the sender knows what the links of a property lead to. It is asked where the sender
    ///     cannot read the class; elsewhere the view of the class decides.
    func fields(of table: TableState, knowsTarget: (Column) -> Bool) -> Fields {
        let key = Case(table: table.key, action: action)
        if let known = fields[key] { return known }
        let allowance = allowance(action, table)
        var result = Fields()
        let shown = shownBase.table(table.key)
        for column in table.columns {
            let isInvisible =
                if let shown {
                    shown.column(named: column.name) == nil && base.table(table.key)?.column(named: column.name) != nil
                } else {
                    !knowsTarget(column)
                }
            if isInvisible || allowance?.hidden.contains(column.name) ?? false {
                result.hidden.insert(column.leafIndex)
            } else if allowance?.readOnly.contains(column.name) ?? false {
                result.readOnly.insert(column.leafIndex)
            }
        }
        fields[key] = result
        return result
    }

    /// Returns whether objects of a class may have parts inside of them that the sender does not see or may not write, for the action
    /// at hand.
    ///
    /// - Parameters:
    ///   - find: Finds it out. It is called once for each class and action.
    func mayHoldUnseen(_ table: TableKey, _ find: () throws(WriteError) -> Bool) throws(WriteError) -> Bool {
        let key = Case(table: table, action: action)
        if let known = unseen[key] { return known }
        let found = try find()
        unseen[key] = found
        return found
    }

    /// Notes that an object was made or changed, if it has to be checked at the end.
    ///
    /// An object that was made by the write stays one that was made.
    func touch(_ place: ObjectPlace, _ action: WriteAction, _ allowance: WriteAllowance) {
        guard allowance.results != nil, touched[place] == nil else { return }
        touched[place] = action
        touchedOrder.append(place)
    }

    /// Notes that the write came to an object in order to change it.
    func noteUpdate(of place: ObjectPlace) {
        if updated.count < 10_000 { updated.append(place) }
    }

    // MARK: - Rules

    /// Returns whether an object matches the rule of an action, where the state before the transaction decides it; nil where the
    /// present state does.
    func matchesBefore(
        _ place: ObjectPlace, _ action: WriteAction, _ targets: [RowRule.Alternative], since changes: [ObjectChange]
    ) throws(StorageError) -> Bool? {
        guard let table = base.table(place.table) else { return nil }
        let key = Case(table: place.table, action: action)
        let rule = rules[key] ?? RowRule.make(targets, for: table, in: base)
        rules[key] = rule
        let isLocal = isLocal[key] ?? WriteRestriction.isLocal(rule, table)
        self.isLocal[key] = isLocal
        guard isUnchanged(place, isLocal, changes), let row = try table.find(place.object) else { return nil }
        return try rule.shows(row)
    }

    /// Returns whether the sender sees an object, where the state before the transaction decides it; nil where the present state
    /// does.
    func seesBefore(_ place: ObjectPlace, _ changes: [ObjectChange]) throws(StorageError) -> Bool? {
        guard let table = base.table(place.table) else { return nil }
        guard let shown = shownBase.table(place.table) else { return false }
        let isLocal = isSeenLocally[place.table] ?? shown.rule.map { WriteRestriction.isLocal($0, table) } ?? true
        isSeenLocally[place.table] = isLocal
        guard isUnchanged(place, isLocal, changes), try table.find(place.object) != nil else { return nil }
        return try shown.find(place.object) != nil
    }

    /// Returns whether some objects of a class may be invisible where properties that are visible lead to them, as they always do to
    /// what is embedded there.
    func mayHide(_ table: TableKey) -> Bool {
        guard let shown = shownBase.table(table) else { return true }
        return shown.rule.map { !($0.definition is SnapshotScope.Owner) } ?? false
    }

    /// Whether links to some objects may be invisible.
    var mayHideAny: Bool { shownBase.scope != nil }

    /// Returns whether nothing was changed in the transaction that a rule for an object reads.
    private func isUnchanged(_ place: ObjectPlace, _ isLocal: Bool, _ changes: [ObjectChange]) -> Bool {
        guard !changes.isEmpty else { return true }
        guard isLocal else { return false }
        if changes.count < changed.count { changed = ([], 0) }
        for change in changes[changed.count...] {
            switch change {
            case .created(let table, let object), .deleted(let table, let object), .modified(let table, let object, _),
                .collection(let table, let object, _, _):
                changed.objects.insert(ObjectPlace(table: table, object: object))
            case .createdRun(let table, let first, let count):
                for object in ObjectChange.keys(of: (first, count)) {
                    changed.objects.insert(ObjectPlace(table: table, object: object))
                }
            case .schema: break
            }
        }
        changed.count = changes.count
        return !changed.objects.contains(place)
    }

    /// Returns whether a rule reads the plain values of its own object alone.
    private static func isLocal(_ rule: ObjectRule, _ table: Table) -> Bool {
        guard let reads = (rule.definition as? RowRule)?.reads, !reads.mayReachAnyTable, reads.tables.isSubset(of: [table.key])
        else { return false }
        return reads.columns.allSatisfy { read in
            table.columns.contains { $0.leafIndex == read.leafIndex && $0.type != .link && $0.type != .mixed }
        }
    }
}
