// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What a write may do to the schema of a realm that shows a part of its classes.
extension WriteSession {
    /// Checks that the realm shows all classes of its file.
    ///
    /// A realm that shows some of them can add, remove and rename none, so nothing can be learned about the names and
    /// links of the others.
    ///
    /// - Parameter member: The member of the input that names the class, for the path of the error; nil for none.
    /// - Throws: `WriteError` with the code `invalidSchema`.
    func requireAllClasses(_ member: String? = nil) throws(WriteError) {
        guard part != nil else { return }
        throw WriteError(
            .invalidSchema,
            "this realm shows the classes that it was attached with; none can be added, removed, renamed or made embedded",
            path: InputPath(member.map { [.name($0)] } ?? []))
    }

    /// Checks that all objects of a class are shown, so that its properties may change.
    ///
    /// - Parameters:
    ///   - member: The member of the input that names the class, for the path of the error; nil for none.
    /// - Throws: `WriteError` with the code `invalidSchema` for an embedded class that has objects in others, which the
    ///   realm does not show.
    func requireOwn(_ table: TableKey, _ member: String? = nil) throws(WriteError) {
        guard let part, part.shared.contains(table) else { return }
        throw WriteError(
            .invalidSchema, "objects of this embedded class are also in classes that this realm does not show",
            path: InputPath(member.map { [.name($0)] } ?? []))
    }
}
