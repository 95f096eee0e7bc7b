// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import Synchronization

/// One table of a snapshot: its columns and the roots of its trees.
///
/// It is immutable, and shared between versions in parts: a version whose spec is the same as in the version before takes over
/// its columns. Attaching a table reads its top node and spec, but none of its objects.
package final class Table: Sendable {
    /// The prefix of the names of tables that hold the objects of users' classes.
    package static let classPrefix = "class_"

    /// The key of the table in its file.
    package let key: TableKey
    /// The full name, for example `class_Dog`.
    package let name: String
    /// The class name, or nil for a table of the SDK.
    package let className: String?
    /// The role of the table's objects: top-level, embedded or asymmetric.
    package let kind: TableKind
    /// The public columns in the order of their declaration.
    package let columns: [Column]
    /// Hidden columns of incoming links; `targetTable` is the origin table, `oppositeColumn` the origin column.
    package let backlinks: [Column]
    /// The column of the primary key; nil when the class has none.
    package let primaryKey: Column?
    /// The position of the primary key in `columns`.
    package let primaryKeyPosition: Int?
    /// The tree of the table's objects, ordered by key.
    package let objects: ClusterTree
    /// The tree of deleted objects that others still link to. Users never see them.
    package let tombstones: ClusterTree
    /// How many objects the table has, tombstones not counted. A view that hides some of them counts these too, so counts for its
    /// users need a query.
    package let count: Int
    /// The format of the file, on which the form of dictionaries depends.
    package let fileFormat: Int
    /// The ref of the table's top node in this version.
    package let ref: Ref
    /// The place that the columns were read from, for comparison with the next version.
    let source: TableReader.Source
    /// The positions of the public columns in `columns`, by name.
    private let columnIndexes: [ByteText: Int]
    /// Chooses the objects that a view shows; nil where all are shown.
    package let rule: ObjectRule?
    /// Guesses where objects are; shared with the other versions of the table.
    let guess: PrimaryKeyGuess

    /// Makes a table from columns that were just read.
    init(_ parts: TableReader.Parts, objects: ClusterTree, tombstones: ClusterTree, fileFormat: Int) throws(StorageError) {
        ref = parts.source.ref
        source = parts.source
        key = parts.key
        name = parts.name
        className = name.dropping(prefix: Table.classPrefix).map { String($0) }
        kind = parts.kind
        columns = parts.columns
        backlinks = parts.backlinks
        primaryKey = parts.primaryKey
        primaryKeyPosition = parts.columns.firstIndex { $0.leafIndex == parts.primaryKey?.leafIndex }
        self.objects = objects
        self.tombstones = tombstones
        self.fileFormat = fileFormat
        count = try objects.count()
        columnIndexes = Dictionary(
            texts: parts.columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        rule = nil
        guess = PrimaryKeyGuess()
    }

    /// Makes a table of a later version that has the columns of `previous`, because nothing they were read from has changed.
    ///
    /// - Parameters:
    ///   - previous: The same table in an earlier version.
    ///   - source: The place that the columns were read from.
    ///   - columns: The columns of `previous`, possibly with other search indexes.
    ///   - objects: The tree of objects in the later version.
    ///   - tombstones: The tree of tombstones in the later version.
    init(
        _ previous: Table, _ source: TableReader.Source, _ columns: [Column], objects: ClusterTree, tombstones: ClusterTree
    ) throws(StorageError) {
        ref = source.ref
        self.source = source
        key = previous.key
        name = previous.name
        className = previous.className
        kind = previous.kind
        self.columns = columns
        backlinks = previous.backlinks
        primaryKey = previous.primaryKeyPosition.map { columns[$0] }
        primaryKeyPosition = previous.primaryKeyPosition
        self.objects = objects
        self.tombstones = tombstones
        fileFormat = previous.fileFormat
        columnIndexes = previous.columnIndexes
        rule = nil
        guess = previous.guess
        count = ref == previous.ref ? previous.count : try objects.count()
    }

    /// Makes the table as a part of a version shows it, with some of its hidden columns of incoming links.
    convenience init(_ whole: Table, backlinks: [Column]) {
        self.init(whole, in: whole.space, columns: whole.columns, backlinks: backlinks, rule: whole.rule)
    }

    /// Makes a table without properties, which replaces one that a part of a version hides.
    convenience init(hiding whole: Table) {
        self.init(whole, in: whole.space, columns: [], backlinks: [], rule: whole.rule, isNamed: false)
    }

    /// Makes the table as a view shows it that has other spaces, fewer properties or fewer objects.
    ///
    /// - Parameters:
    ///   - whole: The table of the version.
    ///   - space: The space that the view reads nodes in.
    ///   - columns: The public columns that are shown, in the order of `whole`.
    ///   - backlinks: The columns of incoming links that are shown.
    ///   - rule: Chooses the objects that are shown; nil for all.
    ///   - isNamed: Whether the class may be named.
    init(
        _ whole: Table, in space: NodeSpace, columns: [Column], backlinks: [Column], rule: ObjectRule?, isNamed: Bool = true
    ) {
        ref = whole.ref
        source = whole.source
        key = whole.key
        name = isNamed ? whole.name : "an invisible class"
        className = isNamed ? whole.className : nil
        kind = whole.kind
        self.columns = columns
        self.backlinks = backlinks
        primaryKeyPosition = columns.firstIndex { $0.leafIndex == whole.primaryKey?.leafIndex }
        primaryKey = primaryKeyPosition == nil ? nil : whole.primaryKey
        objects = ClusterTree(root: whole.objects.root, space: space, shift: whole.objects.shift)
        tombstones = ClusterTree(root: whole.tombstones.root, space: space, shift: whole.tombstones.shift)
        fileFormat = whole.fileFormat
        count = whole.count
        columnIndexes = Dictionary(texts: columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.rule = rule
        guess = whole.guess
    }

    /// The space in which the table's nodes are read.
    package var space: NodeSpace { objects.space }

    /// Returns the public column of that name, or nil.
    ///
    /// - Complexity: O(1).
    package func column(named name: String) -> Column? { columnIndexes[name].map { columns[$0] } }

    /// Returns any column, public or hidden, by the key that other tables refer to it with.
    ///
    /// Only the leaf index is compared: older formats may have another type in the key.
    package func column(_ key: ColumnKey) -> Column? {
        columns.first { $0.leafIndex == key.leafIndex } ?? backlinks.first { $0.leafIndex == key.leafIndex }
    }

    /// Whether links to this table may be unresolved, because it has or had tombstones.
    package var hasTombstones: Bool { !tombstones.root.isNone }

    /// Returns a cursor over the leaves in object key order, or over those from the one in which `key` would be. The leaves
    /// include the objects that a view hides; `rule` distinguishes them.
    ///
    /// - Parameters:
    ///   - key: The key to begin at; nil for the first leaf.
    ///   - hints: The columns that will be read, whose memory is requested in advance.
    package func leaves(from key: ObjectKey? = nil, hints: LeafPrefetch = .none) -> ClusterCursor {
        objects.leaves(from: key, hints: hints)
    }

    /// Returns the place of the object with `key`, or nil. Tombstones are not found, as users never
    /// see them, and neither are objects that a view hides.
    ///
    /// - Throws: `.corrupt` on damage.
    /// - Complexity: O(log n).
    package func find(_ key: ObjectKey) throws(StorageError) -> Row? {
        key.rawValue < 0 ? nil : try visible(try objects.find(key))
    }

    /// Returns an object of the table if the view shows it; nil otherwise.
    ///
    /// - Parameter row: An object, or nil.
    /// - Throws: `.corrupt` on damage.
    package func visible(_ row: Row?) throws(StorageError) -> Row? {
        guard let rule, let row else { return row }
        return try rule.shows(row) ? row : nil
    }
}

/// Guesses where the object with an integer primary key is, from where the last one was found that had to be looked up in the index.
///
/// Object keys and primary keys often count up together, and then all objects are at one distance from their primary keys.
/// Guesses have to be compared with the object. After wrong guesses no more are made until objects are found at one distance
/// again.
///
/// Threads share it without a lock. They may overwrite a note of another thread, which costs a guess at most.
final class PrimaryKeyGuess: Sendable {
    /// The difference of an object key and its primary key; `unknown` before the first object.
    private let distance = Atomic<Int64>(PrimaryKeyGuess.unknown)
    /// The trust in guesses: they are made from 0 on.
    private let trust = Atomic<Int>(0)

    private static let unknown = Int64.min
    /// How many objects have to be found at one distance after a wrong guess.
    private static let penalty = 16

    /// Returns the key of the object that has a primary key, if that can be guessed.
    func objectKey(of primaryKey: Int64) -> ObjectKey? {
        let distance = distance.load(ordering: .relaxed)
        guard distance != PrimaryKeyGuess.unknown, trust.load(ordering: .relaxed) >= 0 else { return nil }
        let (key, isTooLarge) = primaryKey.addingReportingOverflow(distance)
        return isTooLarge || key < 0 ? nil : ObjectKey(key)
    }

    /// Notes that the object that was guessed has another primary key.
    func wasWrong() { trust.store(-PrimaryKeyGuess.penalty, ordering: .relaxed) }

    /// Notes an object that was found in the index.
    func note(_ key: ObjectKey, hasPrimaryKey primaryKey: Int64) {
        let (found, isTooLarge) = key.rawValue.subtractingReportingOverflow(primaryKey)
        guard !isTooLarge else { return }
        guard found == distance.load(ordering: .relaxed) else { return distance.store(found, ordering: .relaxed) }
        let present = trust.load(ordering: .relaxed)
        if present < 0 { trust.store(present + 1, ordering: .relaxed) }
    }
}
