// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// The schema of a realm in the words of its users: classes and properties, without keys and roots.
///
/// It is made from a snapshot when it is asked for, and compared as a value: two files have the same schema when these are
/// equal.
package struct RealmSchema: Sendable, Equatable {
    /// Nil when the file has none.
    package let version: UInt64?
    /// In the order of the file.
    package let classes: [ClassSchema]

    /// A schema that is described without a file.
    package init(version: UInt64?, classes: [ClassSchema]) {
        self.version = version
        self.classes = classes
    }
}

extension RealmSchema {
    /// The schema of a version, with the names that the configuration gives to linking objects.
    package init(_ snapshot: Snapshot, _ names: BacklinkNames = .none) {
        self.init(
            version: snapshot.schemaVersion, classes: snapshot.classes.map { ClassSchema($0, in: snapshot, names) })
    }

    /// The class of that name, or nil.
    package subscript(name: String) -> ClassSchema? { classes.first { $0.name == name } }
}
