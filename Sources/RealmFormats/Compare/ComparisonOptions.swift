// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The classes to compare of two versions, and how objects without a primary key are found again.
package struct ComparisonOptions: Sendable {
    /// The identity of objects whose class has no primary key.
    package enum Identity: String, Sendable {
        /// The object key, which stays the same in all versions and copies of a file.
        case objectKey
        /// The values, of which each object is one example: an object is unchanged if the other version has an equal one.
        case contents
    }

    /// The identity of objects whose class has no primary key.
    package let identity: Identity
    /// The classes that are compared; nil for all.
    package let classes: [String]?
    /// Whether the same ref in both versions is the same subtree, because one file holds both and nothing was written over.
    package let sharesNodes: Bool

    package init(identity: Identity, classes: [String]? = nil, sharesNodes: Bool = false) {
        self.identity = identity
        self.classes = classes
        self.sharesNodes = sharesNodes
    }

    /// Whether a class is compared.
    func includes(_ name: String) -> Bool { classes.map { $0.contains { $0 == name } } ?? true }
}
