// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The rights of a restricted sender of a write.
///
/// Without a restriction every function here allows everything, at the price of one comparison.
extension WriteSession {
    /// Restricts the session to the rights of the sender of the write. It is called before anything else.
    ///
    /// - Parameters:
    ///   - wasMade: Returns whether earlier commits of the same request made an object, which it may complete and link to.
    package func restrict(to rights: any WriteRights, wasMade: @escaping (ObjectPlace) -> Bool = { _ in false }) {
        let base = part.map { Snapshot(SnapshotPart($0, of: transaction.base)) } ?? transaction.base
        // All that an interactive transaction has made so far is its sender's.
        restriction = WriteRestriction(
            rights, base, wasMade: countsTransaction ? { [base = transaction.base] in wasMade($0) || !base.has($0) } : wasMade)
    }

    /// Checks what the write leaves behind: each object that it made or changed has to satisfy the rules.
    ///
    /// It is called when all changes are made.
    ///
    /// - Throws: `WriteError` with the code `forbidden` and the first object that breaks them; the changes have to be rolled back then.
    package func checkResults() throws(WriteError) {
        guard let restriction else { return }
        try hideThatNothingChanged(restriction)
        guard !restriction.touched.isEmpty else { return }
        let view = try wholeView()
        var rules: [TableKey: [WriteAction: ObjectRule]] = [:]
        for place in restriction.touchedOrder {
            try spend()
            guard let action = restriction.touched[place], let table = view.table(place.table),
                let row = try stored(try table.find(place.object))
            else { continue }
            guard let results = restriction.allowance(action, try self.table(place.table))?.results else { continue }
            let rule = rules[place.table]?[action] ?? RowRule.make(results, for: table, in: view)
            rules[place.table, default: [:]][action] = rule
            guard try stored(try rule.shows(row)) else {
                var error = WriteError(
                    .forbidden,
                    "the roles of the sender do not allow the resulting object of class '\(table.className ?? "")'"
                )
                error.object = place
                throw error
            }
        }
    }

    /// Writes a value of an object once more, which the sender may change and not see, if nothing has changed. The version would
    /// reveal otherwise that what was assigned, or removed, was there or was not.
    private func hideThatNothingChanged(_ restriction: WriteRestriction) throws(WriteError) {
        guard !restriction.updated.isEmpty, !transaction.hasChanges else { return }
        for place in restriction.updated where try isThere(place) {
            guard try !sees(place) else { continue }
            var chosen: Column?
            for column in try table(place.table).columns where column.collection == nil && column.type != .mixed {
                if column.type == .link {
                    guard chosen == nil, let target = column.targetTable, try table(target).kind != .embedded else { continue }
                }
                chosen = column
                if column.type != .link { break }
            }
            guard let column = chosen else { continue }
            let slot = Slot.property(place, column)
            return try put(try value(in: slot) ?? .null, in: slot)
        }
    }

    // MARK: - Objects

    /// Returns whether the sender sees an object.
    func sees(_ place: ObjectPlace) throws(WriteError) -> Bool {
        guard let restriction else { return true }
        if let known = try stored(try restriction.seesBefore(place, transaction.changes)) { return known }
        guard let table = try view().table(place.table) else { return false }
        return try stored(try table.find(place.object)) != nil
    }

    /// Returns whether the sender may link to an object that is there: it sees it, or has made it in the same request or interactive
    /// transaction.
    func mayLink(to place: ObjectPlace) throws(WriteError) -> Bool {
        if restriction?.isOwn(place) ?? true { return true }
        return try sees(place)
    }

    /// Throws `forbidden` for an object of which the sender may learn nothing, although it may change it.
    func requireSeen(_ place: ObjectPlace) throws(WriteError) {
        guard try !sees(place) else { return }
        throw WriteError(.forbidden, "this needs the right to read the object")
    }

    /// Returns whether the sender knows of an object: it sees it, or may do something with it.
    func knows(_ place: ObjectPlace, _ table: TableState) throws(WriteError) -> Bool {
        guard let restriction else { return true }
        if restriction.isOwn(place) { return true }
        if try sees(place) { return true }
        if try allows(.update, place, table) { return true }
        return try allows(.delete, place, table)
    }

    /// Returns whether the sender knows of an object that is there.
    package func knows(_ place: ObjectPlace) throws(WriteError) -> Bool { try knows(place, try table(place.table)) }

    /// Returns whether the sender may read objects of the class that an object belongs to.
    package func mayRead(_ place: ObjectPlace) -> Bool { restriction.map { $0.shownBase.table(place.table) != nil } ?? true }

    /// Returns whether the sender may do something with an object.
    func allows(_ action: WriteAction, _ place: ObjectPlace, _ table: TableState) throws(WriteError) -> Bool {
        guard let restriction else { return true }
        guard let allowance = restriction.allowance(action, table) else { return false }
        guard let targets = allowance.targets else { return true }
        guard !targets.isEmpty else { return false }
        if let known = try stored(try restriction.matchesBefore(place, action, targets, since: transaction.changes)) {
            return known
        }
        let view = try wholeView()
        guard let known = view.table(place.table), let row = try stored(try known.find(place.object)) else { return false }
        return try stored(try RowRule.make(targets, for: known, in: view).shows(row))
    }

    /// Checks that the sender may change or delete an object that it can see, and records the object for the check at the end.
    ///
    /// - Parameters:
    ///   - action: The action to check, not `.create`.
    /// - Throws: `WriteError` with the code `forbidden`.
    func authorize(_ action: WriteAction, _ place: ObjectPlace, _ table: TableState) throws(WriteError) {
        guard let restriction else { return }
        restriction.isHidden.removeAll(keepingCapacity: true)
        // An object that the request itself made is still being created.
        if action == .update, restriction.isOwn(place) {
            guard let allowance = restriction.allowance(.create, table) else { throw WriteSession.forbidden }
            restriction.touch(place, .create, allowance)
            restriction.action = .create
            restriction.seesObject = try mayHoldUnseen(table) ? try sees(place) : false
            return
        }
        guard try allows(action, place, table), let allowance = restriction.allowance(action, table) else {
            throw WriteSession.forbidden
        }
        restriction.action = action
        guard action == .update else { return }
        restriction.noteUpdate(of: place)
        restriction.touch(place, .update, allowance)
        restriction.seesObject = try mayHoldUnseen(table) ? try sees(place) : false
    }

    /// Checks that the sender may make objects of a class.
    ///
    /// - Throws: `WriteError` with the code `forbidden`.
    func authorizeMaking(in table: TableState) throws(WriteError) {
        guard let restriction else { return }
        guard restriction.allowance(.create, table) != nil else { throw WriteSession.forbidden }
        restriction.action = .create
    }

    /// Notes a new object for the check at the end.
    func didMake(_ place: ObjectPlace, in table: TableState) {
        guard let restriction, let allowance = restriction.allowance(.create, table) else { return }
        restriction.made.insert(place)
        restriction.touch(place, .create, allowance)
    }

    /// Runs a part of a write that does something else with another object, such as one that is given in place of a link.
    func aside<Result>(_ body: () throws(WriteError) -> Result) throws(WriteError) -> Result {
        guard let restriction else { return try body() }
        let (action, seesObject) = (restriction.action, restriction.seesObject)
        defer { (restriction.action, restriction.seesObject) = (action, seesObject) }
        return try body()
    }

    /// Checks that the sender may import objects of a class.
    ///
    /// - Throws: `WriteError` with the code `forbidden`; `classNotFound` for a class of which the sender does not know.
    package func requireImport(of className: String) throws(WriteError) {
        guard let restriction else { return }
        guard restriction.rights.mayImport(try table(class: className).className) else { throw WriteSession.forbidden }
    }

    /// Throws `forbidden` unless the sender has all rights in the realm.
    func requireAllRights() throws(WriteError) {
        guard restriction == nil else { throw WriteSession.forbidden }
    }

    /// Checks that the sender may carry out a migration, and lifts the restriction of this write, which has nothing left to protect.
    ///
    /// A migration concerns all objects, so its sender has to see all of the realm. Steps that choose objects need the rights to
    /// make, change and delete every object of every class as well.
    ///
    /// - Parameter changesObjects: Whether there are such steps.
    func requireMigration(thatChangesObjects changesObjects: Bool) throws(WriteError) {
        guard let restriction else { return }
        let rights = restriction.rights
        guard rights.mayMigrate else { throw WriteSession.forbidden }
        guard rights.shown(of: restriction.base) == nil else {
            throw WriteError(.forbidden, "a migration needs the right to read all objects of all classes")
        }
        guard !changesObjects || restriction.base.classes.allSatisfy({ WriteSession.isUnlimited(rights, in: $0) }) else {
            throw WriteError(
                .forbidden, "steps that choose objects need the rights to create, update and delete all objects of all classes")
        }
        self.restriction = nil
    }

    /// Returns whether all objects of a class may be made, changed and deleted as one likes.
    private static func isUnlimited(_ rights: any WriteRights, in table: Table) -> Bool {
        [WriteAction.create, .update, .delete].allSatisfy { action in
            let allowance = rights.allowance(
                for: action, on: table.className ?? "", isEmbedded: table.kind == .embedded)
            return allowance?.isUnlimited ?? false
        }
    }

    /// The error for an action that the roles of the sender do not allow.
    static let forbidden = WriteError(.forbidden, "the roles of this principal do not allow this")

    // MARK: - Classes and properties

    /// Returns whether the sender knows of a class: it sees it, or may do something in it.
    func knows(_ table: TableState) throws(WriteError) -> Bool {
        guard let restriction else { return true }
        return restriction.shownBase.table(table.key) != nil
            || table.kind != .embedded && restriction.rights.mayKnow(table.className)
    }

    /// Returns the primary key of a class by which the sender may name objects; nil when there is none, or it is hidden.
    ///
    /// Every look-up of a requested key goes through it, so a client that may not know keys cannot learn which exist.
    func knownPrimaryKey(of table: TableState) -> Column? {
        guard let column = table.primaryKey else { return nil }
        guard let restriction else { return column }
        if let shown = restriction.shownBase.table(table.key) { return shown.column(named: column.name) == nil ? nil : column }
        // Without the right to read, objects are named by keys that some action shows.
        let isShown = [WriteAction.create, .update, .delete].contains { action in
            restriction.allowance(action, table).map { !$0.hidden.contains(column.name) } ?? false
        }
        return isShown ? column : nil
    }

    /// Returns the properties of a class that the write at hand cannot write; nil when it can write all of them.
    func fields(of table: TableState) -> WriteRestriction.Fields? {
        restriction?.fields(of: table) { knowsTarget(of: $0) }
    }

    /// Returns whether the sender knows what the links of a property lead to, so that messages may name it. Embedded objects
    /// follow their owners.
    private func knowsTarget(of column: Column) -> Bool {
        guard let restriction, column.type == .link else { return true }
        guard let key = column.targetTable, isShown(key), let target = try? table(key) else { return false }
        guard target.kind == .embedded else { return (try? knows(target)) ?? false }
        return restriction.rights.mayWriteInside(target.className, by: restriction.action)
    }

    /// Returns the columns of a class that the write at hand knows of.
    func knownColumns(of table: TableState) -> [Column] {
        guard let hidden = fields(of: table)?.hidden else { return table.columns }
        return hidden.isEmpty ? table.columns : table.columns.filter { !hidden.contains($0.leafIndex) }
    }

    /// Returns a property by its name; nil when the class has none, which is also the answer for one that is hidden from the write
    /// at hand.
    func knownColumn(_ name: String, of table: TableState) -> Column? {
        guard let column = table.column(named: name), !isHidden(column, of: table) else { return nil }
        return column
    }

    /// Returns the position of the property that a member refers to; nil when the class has none, which is also the answer for one
    /// that is hidden from the write at hand.
    ///
    /// - Parameters:
    ///   - name: The name of the member, which may be escaped.
    ///   - guess: The position to try first.
    func knownPosition(ofMember name: String, of table: TableState, guess: Int = 0) -> Int? {
        let isEscaped = naming.isEscaped(name)
        guard !isEscaped || naming.isEscapedProperty(name),
            let position = table.columnPosition(named: isEscaped ? naming.property(name) : name, guess: guess)
        else { return nil }
        guard restriction != nil else { return position }
        return isHidden(table.columns[position], of: table) ? nil : position
    }

    /// Returns whether the sender may know of linking objects that a class has under a configured name: it sees the property that
    /// they link with.
    ///
    /// - Parameters:
    ///   - path: The linking class and property, separated by a dot.
    ///   - table: The class that is linked to.
    func knowsBacklinks(_ path: String, of table: TableState) -> Bool {
        guard let shown = restriction?.shownBase else { return true }
        return shown.table(table.key)?.backlinkColumn(from: path, in: shown) != nil
    }

    /// Returns whether the write at hand has to leave a property as it is.
    func keeps(_ column: Column, of table: TableState) -> Bool { fields(of: table)?.keep(column) ?? false }

    /// Returns whether a property does not exist for the write at hand.
    func isHidden(_ column: Column, of table: TableState) -> Bool {
        fields(of: table)?.hidden.contains(column.leafIndex) ?? false
    }

    /// Throws `forbidden` for a property that the write at hand may not change.
    func requireWritable(_ column: Column, of table: TableState) throws(WriteError) {
        guard fields(of: table)?.readOnly.contains(column.leafIndex) ?? false else { return }
        throw WriteSession.protected(column)
    }

    /// Makes the error for a property that the sender may only read.
    private static func protected(_ column: Column) -> WriteError {
        WriteError(.forbidden, "the roles of this principal do not allow to write '\(column.name)'")
    }

    /// Returns the members of a body that are written.
    ///
    /// Members for properties that the sender may only read are left out when they have the present value, so that a document that
    /// was read can be sent back. Members for hidden properties remain: they are refused, or ignored, at the place and in the words
    /// of a member that the class does not have.
    ///
    /// - Parameters:
    ///   - body: The members as they were given.
    ///   - place: The object, if it exists.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError` with the code `forbidden` for another value of a property that may only be read.
    func permitted(
        _ body: InputObject, of table: TableState, at place: ObjectPlace?, _ options: Options
    ) throws(WriteError) -> InputObject {
        guard let readOnly = fields(of: table)?.readOnly, !readOnly.isEmpty else { return body }
        var members: [(name: String, value: InputValue)] = []
        for (name, value) in body.members {
            guard let position = knownPosition(ofMember: name, of: table), readOnly.contains(table.columns[position].leafIndex)
            else {
                members.append((name, value))
                continue
            }
            let column = table.columns[position]
            guard let place, try isPresent(value, column, table, at: place, options) else {
                throw WriteSession.protected(column).inside(.name(name))
            }
        }
        return InputObject(members, keepsNulls: body.keepsNulls)
    }

    /// Returns whether a property has a value already, as far as the sender may know.
    private func isPresent(
        _ value: InputValue, _ column: Column, _ table: TableState, at place: ObjectPlace, _ options: Options
    ) throws(WriteError) -> Bool {
        // An embedded object is seen with the object at hand.
        guard try table.kind == .embedded ? restriction?.seesObject ?? true : sees(place) else { return false }
        return (try? isEqual(value, to: column, of: place, options)) ?? false
    }

    // MARK: - Links

    /// Returns a stored value as the sender sees it: a link to what it does not see is null.
    func shown(_ value: Value) throws(WriteError) -> Value {
        guard restriction != nil, try isHiddenLink(value) else { return value }
        return .null
    }

    /// Returns whether a stored value is a link that reads as null, so that null is what it already is for the sender.
    func isHiddenLink(_ value: Value?) throws(WriteError) -> Bool {
        guard let restriction, case .link(let table, let object)? = value, object.rawValue >= 0, restriction.mayHide(table),
            try self.table(table).kind != .embedded
        else { return false }
        let place = ObjectPlace(table: table, object: object)
        if let known = restriction.isHidden[place] { return known }
        let isHidden = try !sees(place)
        restriction.isHidden[place] = isHidden
        return isHidden
    }

    /// Returns whether a collection may have links to what the sender does not see.
    func mayHideElements(_ place: CollectionPlace) -> Bool {
        guard let restriction else { return false }
        let shape = place.elementShape
        switch shape.type {
        case .link: return shape.target.map { restriction.mayHide($0) } ?? false
        case .mixed: return restriction.mayHideAny
        default: return false
        }
    }
}

extension Snapshot {
    /// Whether an object is in this version, or cannot be read.
    fileprivate func has(_ place: ObjectPlace) -> Bool {
        do throws(StorageError) {
            return try table(place.table)?.find(place.object) != nil
        } catch {
            return true
        }
    }
}
