// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Key paths that say which changes of an object matter.
///
/// A path with stars stands for several chains. It is resolved when the observation begins and again when the schema grows,
/// because stars stand for more then.
package struct KeyPathFilter: Sendable {
    /// Why a key path stands for nothing.
    package struct Failure: Error, Sendable, Equatable {
        /// What is wrong.
        package enum Kind: String, Sendable {
            /// The class has no property of that name.
            case unknownProperty
            /// Something follows a property that leads to no objects.
            case notTraversable
            /// A path with `*` fits nothing.
            case noMatch
            /// A component is empty, or something follows `*`.
            case malformed
            /// It stands for more than can be kept.
            case tooMany
        }

        /// What is wrong.
        package let kind: Kind
        /// The path as it was given.
        package let path: String
        /// The part of it that is wrong.
        package let component: String
    }

    /// As they were given.
    package let paths: [String]
    /// What they stand for; none is empty.
    package let chains: [[KeyPathStep]]

    /// - Parameters:
    ///   - paths: relative to the class of `table`: names with dots between them, or `*` for all properties of a class.
    ///   - names: names of linking objects.
    ///   - acceptsLinks: whether `@links.Class.property` may stand for linking objects without a name.
    package static func resolve(
        _ paths: [String], of table: Table, in snapshot: Snapshot, names: BacklinkNames, acceptsLinks: Bool = true
    ) throws(Failure) -> KeyPathFilter {
        var chains: [[KeyPathStep]] = []
        var stepCount = 0
        for path in paths {
            var resolver = KeyPathResolver(path, snapshot, names, acceptsLinks: acceptsLinks)
            chains += try resolver.resolve(from: table)
            stepCount += resolver.stepCount
            guard stepCount <= KeyPathResolver.maximumSteps else { throw Failure(kind: .tooMany, path: path, component: path) }
        }
        return KeyPathFilter(paths: paths, chains: chains)
    }
}
