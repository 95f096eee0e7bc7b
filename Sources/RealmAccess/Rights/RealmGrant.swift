// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The rights of a role in the realms of a pattern.
package final class RealmGrant: Sendable {
    /// The rights in a realm in addition to those in its classes.
    package struct Whole: Sendable, Hashable {
        /// Whether interactive transactions are allowed.
        package var transactions = false
        /// Whether an export of the readable part of the realm is allowed.
        package var export = false
        /// Whether an import of an export is allowed, in which each object needs its own right.
        package var `import`: Bool = false
        /// Whether the schema may be changed.
        package var migrate = false
        /// Whether links to objects that cannot be seen are shown as stubs with the key.
        package var showHiddenLinks = false

        /// Allows the given things.
        package init(
            transactions: Bool = false, export: Bool = false, import: Bool = false, migrate: Bool = false,
            showHiddenLinks: Bool = false
        ) {
            self.transactions = transactions
            self.export = export
            self.import = `import`
            self.migrate = migrate
            self.showHiddenLinks = showHiddenLinks
        }

        static let everything = Whole(transactions: true, export: true, import: true, migrate: true, showHiddenLinks: true)

        /// Whether there is a right that counts on its own: transactions and stubs only go with others.
        var isRight: Bool { export || `import` || migrate }

        /// Adds the rights of another role.
        mutating func formUnion(_ other: Whole) {
            transactions = transactions || other.transactions
            export = export || other.export
            `import` = `import` || other.import
            migrate = migrate || other.migrate
            showHiddenLinks = showHiddenLinks || other.showHiddenLinks
        }

        /// The flags as a word for comparisons.
        var form: String {
            [transactions, export, `import`, migrate, showHiddenLinks].map { $0 ? "1" : "0" }.joined()
        }
    }

    let pattern: NamePattern
    /// The rights in classes.
    let classes: [ClassGrant]
    /// The rights in addition to classes.
    let whole: Whole

    /// Makes a grant for realms.
    ///
    /// - Parameters:
    ///   - classes: The rights in classes.
    ///   - whole: The rights in addition to classes.
    package init(_ pattern: NamePattern, _ classes: [ClassGrant], _ whole: Whole = Whole()) {
        self.pattern = pattern
        self.classes = classes
        self.whole = whole
    }

    /// Whether the grant gives any right, so that the realms of the pattern exist for its holder.
    var givesAnything: Bool { whole.isRight || classes.contains { !$0.actions.isEmpty } }

    /// The claims that the rules of the classes and the pattern name.
    var claims: [ClaimPath] { classes.flatMap(\.claims) + (pattern.claim.map { [$0] } ?? []) }
}
