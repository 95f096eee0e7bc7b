// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The classes of a file that a realm shows, when it does not show all of them.
///
/// They are kept as names: a file that another program writes, or that is replaced, may have the same classes in other tables.
package struct ShownClasses: Sendable, Equatable {
    /// The names of the classes. Embedded classes that can be reached from them are shown as well.
    package let names: [String]

    /// Chooses classes by their names, of which the file may not have all.
    package init(_ names: [String]) { self.names = names }

    /// Returns the part of a version that is shown. Names that are no class of the version are left out.
    ///
    /// - Parameters:
    ///   - whole: The version with all classes.
    ///   - previous: The part of an earlier version; with the same schema it has the same tables.
    /// - Complexity: Linear in the number of columns of the classes.
    package func part(of whole: Snapshot, after previous: Snapshot? = nil) -> Snapshot {
        if let known = previous?.part, known.whole.hasSameSchema(as: whole) { return Snapshot(SnapshotPart(known, of: whole)) }
        return Snapshot(SnapshotPart(showing: ClassSubset(known: names, of: whole).kept, of: whole))
    }

    /// Returns the position of the first name that is no class of a version; nil when all are.
    package func unknown(in snapshot: Snapshot) -> Int? {
        let known = Set<ByteText>(texts: snapshot.classes.compactMap(\.className))
        return names.firstIndex { !known.contains($0) }
    }
}
