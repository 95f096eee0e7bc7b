// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The mark by which the .NET SDK recognizes files whose UUIDs are in the order of their bytes.
///
/// Its early versions stored the first three parts of a UUID with their bytes reversed. When it opens a file without the mark in which
/// one UUID looks reversed, it reverses all of them. Of UUIDs of version 7 each 16th does. The mark is an empty table.
extension WriteSession {
    /// The name of the table that is the mark.
    static let identifierMark = "dotnet_guid_representation_fixed"

    /// Marks the file before the first property that may hold UUIDs is added to it. A file that has such properties is left as it is,
    /// because its UUIDs may be those of an early app.
    ///
    /// - Parameter type: The type of the property that is added.
    func markIdentifiers(before type: PropertyType) throws(WriteError) {
        guard type == .uuid || type == .mixed, try !stored(try hasIdentifierMark()) else { return }
        let mayHaveSome = transaction.base.tables.contains { table in
            table.columns.contains { $0.type == .uuid || $0.type == .mixed }
        }
        guard !mayHaveSome else { return }
        _ = try stored(try changing.createTable(WriteSession.identifierMark))
    }

    /// Returns whether the file has the mark.
    func hasIdentifierMark() throws(StorageError) -> Bool { try transaction.table(named: WriteSession.identifierMark) != nil }
}
