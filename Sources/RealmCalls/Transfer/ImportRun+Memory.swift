// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension ImportRun {
    /// The state that one commit of an import passes to the next.
    struct Memory: Sendable {
        /// The new object keys of objects that the input names by object keys, by class. A class that another client removes and adds
        /// again has another table.
        var keys: [ByteText: [TableKey: KeyTranslation]] = [:]
        /// The objects that were created, if the rights to them have to be checked, by table.
        var made: [TableKey: KeyTranslation] = [:]
        /// Objects of `made` that others have changed since, and classes of which they may have changed any.
        private var foreign: (objects: Set<ObjectPlace>, classes: Set<TableKey>) = ([], [])
        /// The values with links that are written at the end.
        var later = WaitingValues()
        /// The number of entries of `later` that are written, or are in `unlinked`.
        var linked = 0
        /// The entries of which some links are left out, because the import fails.
        var unlinked: [WaitingValues.Entry] = []
        /// The number of lines of which a value was not written at the end, because another client had changed the property.
        var overtaken = 0
        /// The number of objects that were created.
        var created = 0
        /// The number of objects that existed and were written into.
        var updated = 0
        /// The record of the last object that was written; nil before the first.
        var last: RecordPlace?
        /// The line of the last object of a class without primary key, which another import makes again; 0 before the first.
        var lastKeylessLine = 0
        /// The members that were ignored.
        var ignored = IgnoredMembers()

        /// The approximate size in bytes.
        var byteCount: Int {
            later.byteCount + 2 * unlinked.count * MemoryLayout<WaitingValues.Entry>.stride
                + keys.values.joined().reduce(0) { $0 + $1.value.byteCount } + made.values.reduce(0) { $0 + $1.byteCount }
                + 3 * foreign.objects.count * MemoryLayout<ObjectPlace>.stride
        }

        /// Returns whether the import has made an object that no other client has changed since. It may complete such an object
        /// and link to it; to others it needs the same rights as any write.
        func isOwn(_ place: ObjectPlace) -> Bool {
            made[place.table]?.new(place.object) != nil && !foreign.objects.contains(place)
                && !foreign.classes.contains(place.table)
        }

        /// Records what others have changed since the commit before. An object whose sender still sees the same is as the import
        /// has left it.
        ///
        /// - Parameter session: The next transaction, with the rights of the sender and without changes.
        mutating func noteChanges(since version: Version, _ session: WriteSession) throws(Problem) {
            let (objects, classes, view) = try Problem.written(session.changes(since: version))
            foreign.classes.formUnion(classes)
            let changed = objects.filter { isOwn($0) }
            guard !changed.isEmpty else { return }
            let before = ObjectEncoder(view, Representation(), session.budget)
            let after = ObjectEncoder(try Problem.written(session.view()), Representation(), session.budget)
            for place in changed {
                let tag = try Memory.tag(of: place, before)
                let isSame = try tag == Memory.tag(of: place, after)
                if tag == nil || !isSame { foreign.objects.insert(place) }
            }
        }

        /// Returns the entity tag of an object; nil if the sender does not see it.
        private static func tag(of place: ObjectPlace, _ encoder: ObjectEncoder) throws(Problem) -> ByteText? {
            try Problem.mapping { () throws(StorageError) in
                guard let table = encoder.snapshot.table(place.table), let row = try table.find(place.object) else { return nil }
                return ByteText(try encoder.entityTag(of: row, in: table))
            }
        }
    }

    /// The progress of a failed run, so that the valid objects can be written again without the rest.
    struct Failure: Sendable {
        /// The record that the run began with; nil when it took none.
        let start: RecordPlace?
        /// The number of objects before the one that is wrong.
        let objectCount: Int
        /// The position in `later` of the object whose links were being written.
        let linked: Int
        /// Whether the object breaks a rule while values of it wait for later lines.
        var isIncomplete = false
    }
}
