// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The schema of a realm as its users see it: classes and properties, without internal keys and refs.
///
/// It is made from a snapshot on request, and compared as a value: two files have the same schema when these values are equal.
package struct RealmSchema: Sendable, Equatable {
    /// The schema version; nil when the file has none.
    package let version: UInt64?
    /// The classes in the order of the file.
    package let classes: [ClassSchema]

    /// Makes a schema that is described without a file.
    package init(version: UInt64?, classes: [ClassSchema]) {
        self.version = version
        self.classes = classes
    }
}

extension RealmSchema {
    /// Reads the schema of a version.
    ///
    /// - Parameters:
    ///   - snapshot: The version that is read.
    ///   - names: The names that the configuration gives to linking objects.
    package init(_ snapshot: Snapshot, _ names: BacklinkNames = .none) {
        self.init(
            version: snapshot.schemaVersion, classes: snapshot.classes.map { ClassSchema($0, in: snapshot, names) })
    }

    /// Returns the class with the given name, or nil.
    package subscript(name: String) -> ClassSchema? { classes.first { $0.name == name } }
}
