// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// The states of all realms by name, with indexes over all of them.
///
/// Thousands of realms may be open, and each opening needs their number, any realm that serves the same file, and the one that
/// was unused for longest. None of these look-ups visits every realm.
///
/// `Catalog` guards it with its lock.
struct RealmStates: Sendable {
    private(set) var byName: [ByteText: Catalog.State] = [:]
    /// The number of realms that are open or being opened.
    private(set) var openCount = 0
    /// The number of realms that are not open, because they are not requested or not used.
    private var closedCount = 0
    /// The names of the open realms by their file. A compaction gives a realm another file, so an entry counts only
    /// while the realm still has that file.
    private var namesByFile: [System.FileIdentity: String] = [:]
    /// The value of `FileWitness.replacementCount` to which `namesByFile` is complete.
    private var knownReplacements = 0
    /// The open realms in the order of their use, as far as it is known.
    private var order = UseOrder()

    var count: Int { byName.count }
    /// The number of realms that are open, being opened or failed.
    var activeCount: Int { byName.count - closedCount }

    /// The state of the realm with the given name; nil when there is none.
    subscript(name: String) -> Catalog.State? {
        get { byName[name] }
        set {
            forget(name)
            byName[name] = newValue
            guard let newValue else { return }
            count(name, newValue)
            if case .ready(let database) = newValue { note(name, database.lastUse) }
        }
    }

    /// Removes a realm.
    ///
    /// - Returns: The state that it had; nil when there was none.
    mutating func removeValue(forKey name: String) -> Catalog.State? {
        forget(name)
        return byName.removeValue(forKey: name)
    }

    /// Replaces an open realm by a closed one if nothing but this table refers to its database.
    ///
    /// - Returns: The database; nil when something else refers to it, and nothing has changed.
    mutating func takeReady(_ name: String, leaving realm: ClosedRealm) -> Database? {
        guard case .ready(var database)? = removeValue(forKey: name) else { return nil }
        guard isKnownUniquelyReferenced(&database) else {
            byName[name] = .ready(database)
            count(name, .ready(database))
            return nil
        }
        self[name] = .closed(realm)
        return database
    }

    // MARK: - Counts and files

    /// Takes a realm out of the counts before it gets another state.
    private mutating func forget(_ name: String) {
        guard let state = byName[name] else { return }
        if state.isOpen { openCount -= 1 }
        if state.isClosed { closedCount -= 1 }
        guard case .ready(let database) = state, let file = database.identity, namesByFile[file] == name else { return }
        namesByFile[file] = nil
    }

    private mutating func count(_ name: String, _ state: Catalog.State) {
        if state.isOpen { openCount += 1 }
        if state.isClosed { closedCount += 1 }
        if case .ready(let database) = state, let file = database.identity { namesByFile[file] = name }
    }

    /// Returns the name under which a file is served; private copies of it do not count.
    mutating func server(of file: System.FileIdentity?) -> String? {
        guard let file else { return nil }
        let replacements = FileWitness.replacementCount
        if replacements != knownReplacements {
            knownReplacements = replacements
            rebuildFiles()
        }
        guard let name = namesByFile[file], case .ready(let database)? = byName[name], database.identity == file else {
            return nil
        }
        return name
    }

    /// Collects the files of the open realms again, after a compaction has given one of them another file.
    private mutating func rebuildFiles() {
        namesByFile = [:]
        for (name, state) in byName {
            if case .ready(let database) = state, let file = database.identity { namesByFile[file] = name.text }
        }
    }

    // MARK: - Use

    /// Gives a realm that was opened its place in the order of use.
    private mutating func note(_ name: String, _ lastUse: Instant) {
        order.insert(name, lastUse: lastUse)
        if order.count > 2 * byName.count + 1000 { rebuildOrder() }
    }

    /// Takes the open realm that was unused for longest out of the order of use. The caller closes it, or puts it
    /// back with `putBack`.
    ///
    /// - Complexity: O(log n) on average: each realm is moved in the order once after it was used.
    mutating func takeLongestUnused() -> String? {
        while let (name, known) = order.popFirst() {
            guard case .ready(let database)? = byName[name] else { continue }
            guard database.lastUse > known else { return name }
            order.insert(name, lastUse: database.lastUse)
        }
        return nil
    }

    /// Puts realms that are in use, so that they could not be closed, at the end of the order of use.
    mutating func putBack(_ names: [String]) {
        let now = Instant.now()
        for name in names {
            if case .ready? = byName[name] { order.insert(name, lastUse: now) }
        }
    }

    /// Rebuilds the order from the open realms, without those that were closed or detached in the meantime.
    private mutating func rebuildOrder() {
        order = UseOrder()
        for (name, state) in byName {
            if case .ready(let database) = state { order.insert(name.text, lastUse: database.lastUse) }
        }
    }
}
