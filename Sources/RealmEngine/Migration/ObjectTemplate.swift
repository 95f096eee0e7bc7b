// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The members of an object in a migration step, made ready for being computed once for each object.
struct ObjectTemplate {
    /// The members in the order in which they were given.
    let members: [(name: String, value: ValueTemplate)]

    /// Prepares the members of an input.
    ///
    /// - Parameters:
    ///   - object: The members as they were given.
    ///   - scope: The names that their expressions may use.
    /// - Throws: `WriteError` with the code `invalidSchema` for an expression that cannot be read, with the
    ///   path to it.
    init(_ object: InputObject, _ scope: MigrationScope) throws(WriteError) {
        var members: [(name: String, value: ValueTemplate)] = []
        for (name, value) in object.members {
            members.append((name: name, value: try at(.name(name), try ValueTemplate(value, scope))))
        }
        self.members = members
    }

    /// Whether no member is computed.
    var isConstant: Bool { members.allSatisfy(\.value.isConstant) }
}
