// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

extension Table {
    /// Names that primary keys have in other databases.
    private static let usualKeys: Set<ByteText> = ["id", "_id", "key", "pk", "uuid", "objectid", "rowid"]

    /// Returns the end of an error text about a name that no property of the class has: the property that was probably
    /// meant, or nothing.
    ///
    /// In a view for a principal the class has no other properties than the principal may see.
    ///
    /// - Parameters:
    ///   - name: The name as it was written.
    ///   - others: Further names that would have been accepted, such as those of linking objects.
    package func hint(for name: String, and others: [String] = []) -> String {
        let hint = Suggestion.hint(for: name, in: columns.map(\.name) + others)
        guard hint.isEmpty, Table.usualKeys.contains(name.lowercasedASCII), let primaryKey else { return hint }
        return "; did you mean '\(primaryKey.name)', the primary key?"
    }
}
