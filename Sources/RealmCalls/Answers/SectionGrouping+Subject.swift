// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// What is divided into sections.
extension SectionGrouping {
    /// Notes whether the key path leads to mixed values.
    ///
    /// - Parameters:
    ///   - subject: What is grouped: objects of a class, or values of a collection.
    ///   - mapping: The names of linking objects.
    ///   - snapshot: The version that is read.
    mutating func resolve(_ subject: Elements.Subject, _ mapping: KeyPathMapping, in snapshot: Snapshot) {
        switch subject {
        case .values(let column, _, _): isMixed = column.type == .mixed
        case .objects(let table):
            let resolved = try? KeyPath.resolve(path, from: table, in: snapshot, mapping: mapping)
            isMixed = resolved?.property?.type == .mixed
        }
    }
}
