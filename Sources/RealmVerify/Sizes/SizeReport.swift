// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The bytes of a file by their purpose: classes, properties, indexes, free space.
///
/// - Every byte of the file belongs to exactly one part, so the parts add up to the size of the file.
/// - A number that is not known is nil.
package struct SizeReport: Sendable {
    /// The format of the file; 0 in a file in which nothing was ever written.
    package let fileFormat: Int
    package let isEncrypted: Bool
    /// Whether the file is in the form that is written in one pass, as copies are.
    package let isStreaming: Bool
    /// The number of the version; nil when the file does not state it.
    package internal(set) var version: UInt64?
    package let fileBytes: UInt64
    /// The logical size: bytes behind it belong to no version. Nil when it cannot be read.
    package internal(set) var logicalBytes: UInt64?
    /// The number of nodes in use.
    package internal(set) var nodeCount = 0
    package internal(set) var parts = Parts()
    /// The free space; nil when its lists cannot be read.
    package internal(set) var free: Free?
    /// The size of the file after compaction, about; nil for a damaged file and for formats 2 to 9.
    package internal(set) var compactedBytes: UInt64?
    /// The classes in the order of the file.
    package internal(set) var classes: [Table] = []
    /// The tables of the SDK, which are no classes.
    package internal(set) var otherTables: [Table] = []
    /// The largest values that have nodes of their own, by falling size; at most `LargestValues.limit`.
    package internal(set) var largest: [LargestValues.Value] = []
    /// The nodes that could not be read; at most `maximumDamage` are kept.
    package internal(set) var damage: [Damage] = []
    /// The number of nodes that could not be read.
    package internal(set) var damageCount = 0

    /// Whether everything could be read.
    package var isComplete: Bool { damageCount == 0 }

    /// The most nodes that could not be read of which the report has the places.
    static let maximumDamage = 200

    /// The parts of the whole file in bytes.
    package struct Parts: Sendable, Equatable {
        package var header: UInt64 = 0
        /// The top node with the list of tables and their names.
        package var top: UInt64 = 0
        /// The lists of free blocks.
        package var freeLists: UInt64 = 0
        /// The changes of earlier versions, as SDKs keep them.
        package var history: UInt64 = 0
        package var classes: UInt64 = 0
        /// The classes that a realm does not show.
        package var hiddenClasses: UInt64 = 0
        /// The tables of the SDK.
        package var otherTables: UInt64 = 0
        /// The free blocks; 0 when their lists cannot be read.
        package var free: UInt64 = 0
        /// The bytes that nothing refers to, or that could not be read.
        package var unaccounted: UInt64 = 0
        /// The bytes behind the logical size.
        package var tail: UInt64 = 0
        /// The page tables of an encrypted file.
        package var pageTables: UInt64 = 0

        /// The parts with their names, as documents have them.
        package var named: [(name: StaticString, bytes: UInt64)] {
            [
                ("header", header), ("top", top), ("freeLists", freeLists), ("history", history), ("classes", classes),
                ("hiddenClasses", hiddenClasses), ("otherTables", otherTables), ("free", free), ("unaccounted", unaccounted),
                ("tail", tail), ("pageTables", pageTables),
            ]
        }
        /// The size of the file.
        package var total: UInt64 { named.reduce(0) { $0 &+ $1.bytes } }
    }

    /// The free blocks of a version.
    package struct Free: Sendable, Equatable {
        package var bytes: UInt64 = 0
        package var blockCount = 0
        /// The size of the largest block in bytes.
        package var largestBlock: UInt64 = 0
        /// The bytes that cannot be used yet, because former versions are kept; nil when these are not known.
        package var pinned: UInt64?
    }

    /// The bytes of a table.
    package struct Table: Sendable {
        /// The name of the class, or of the table.
        package let name: String
        /// The number of objects; nil when not all leaves could be read.
        package let objectCount: UInt64?
        /// Whether everything in the table could be read.
        package let isComplete: Bool
        /// The description of the table and its properties.
        package let schema: UInt64
        /// The keys of the objects, and the nodes of the tree that leads to them.
        package let keys: UInt64
        /// Deleted objects that links still point to.
        package let tombstones: UInt64
        /// Remains that belong to no property.
        package let other: UInt64
        package let properties: [Property]
        /// The whole table.
        package var bytes: UInt64 { properties.reduce(schema &+ keys &+ tombstones &+ other) { $0 &+ $1.bytes } }
    }

    /// The bytes of a property.
    package struct Property: Sendable {
        package let name: String
        /// The values, or of collections the list of them.
        package let values: UInt64
        /// The contents of lists, sets and dictionaries, those in Mixed included.
        package let collections: UInt64
        package let index: UInt64
        /// The columns of incoming links that the targets of these links have.
        package let backlinks: UInt64
        /// The whole property.
        package var bytes: UInt64 { values &+ collections &+ index &+ backlinks }
    }

    /// A node that could not be read, so that what it leads to is among the bytes that are unaccounted for.
    package struct Damage: Sendable {
        /// The offset of the node in the plain file.
        package let offset: UInt64
        /// The name of its class or table; nil for one that belongs to the file as a whole.
        package let table: String?
        package let property: String?
        package let reason: String
    }

    init(of file: RealmFile) {
        fileFormat = file.header.fileFormat
        isEncrypted = file.isEncrypted
        isStreaming = file.header.isStreaming
        fileBytes = UInt64(max(file.fileByteCount, file.plainByteCount))
    }

    /// Measures a file of any format in one walk, damaged ones as far as they can be read.
    ///
    /// - Parameters:
    ///   - file: The file in the state of the version.
    ///   - options: The extent of the report, and the handling of memory.
    ///   - control: Can cancel the walk.
    /// - Throws: The error of the control; `.io` when there is no memory, or a page cannot be read.
    /// - Complexity: Linear in the number of nodes. It takes a bit for each word of the file in use.
    package init(
        measuring file: RealmFile, _ options: Options = Options(), _ control: WorkControl? = nil
    ) throws(StorageError) {
        let file = options.ownsFile ? try file.withOwnPages() : file
        let walk = try SizeWalk(file, options, control)
        try walk.run()
        self = walk.report()
    }

    /// The extent of a report.
    package struct Options: Sendable {
        /// log2 of the capacity of cluster leaves.
        package var clusterShift = 8
        /// The oldest version that is kept, by which pinned bytes are counted; nil when it is not known.
        package var oldestVersion: UInt64?
        /// The classes that may be named; nil for all.
        package var shown: Set<TableKey>?
        /// Whether the file is only read, and by this thread alone, so that the memory of decrypted pages can be given back.
        package var ownsFile = false

        /// Reports all of a file whose former versions are not known.
        package init() {}
    }
}
