// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Key paths that decide which changes of an object count as modifications.
///
/// A path with wildcards describes several chains of steps. It is resolved when the observation begins,
/// and again when classes or properties are added, because wildcards then cover more.
package struct KeyPathFilter: Sendable {
    /// The error for a key path that cannot be resolved.
    package struct Failure: Error, Sendable, Equatable {
        /// The kinds of errors.
        package enum Kind: String, Sendable {
            /// The class has no property of that name.
            case unknownProperty
            /// Something follows a property that does not lead to objects.
            case notTraversable
            /// A path with `*` matches no property.
            case noMatch
            /// A component is empty, or something follows `*`.
            case malformed
            /// The wildcards of the paths match more steps than may be kept or examined.
            case tooMany
        }

        /// The kind of error.
        package let kind: Kind
        package let path: String
        /// The component of the path that is wrong.
        package let component: String
    }

    /// The path that alone covers all properties of an object and of the objects embedded in it, also those that are added to the
    /// schema later. No property can have this name.
    package static let embeddedPath = "@embedded"

    package let paths: [String]
    /// The chains of steps that the paths describe; none of them is empty.
    package let chains: [[KeyPathFilter.Step]]
    /// A text that is the same for filters with the same chains, and different for others.
    let name: String

    /// Makes a filter of resolved paths.
    private init(paths: [String], chains: [[KeyPathFilter.Step]]) {
        self.paths = paths
        self.chains = chains
        var name = ""
        for chain in chains {
            for step in chain {
                switch step {
                case .property(let table, let column): name += "\(table.rawValue).\(column.rawValue) "
                case .linkingObjects(let target, let origin, let column):
                    name += "\(target.rawValue)<\(origin.rawValue).\(column.rawValue) "
                }
            }
            name += ","
        }
        self.name = name
    }

    /// Resolves key paths in the schema of a version.
    ///
    /// - Parameters:
    ///   - paths: Paths relative to the class of `table`: names separated by dots, or `*` for all
    ///     properties of a class; or `embeddedPath`.
    ///   - table: The class at whose objects the paths start.
    ///   - snapshot: The version whose schema applies.
    ///   - names: The configured names of linking objects.
    ///   - acceptsLinks: Whether `@links.Class.property` is accepted for linking objects without a name.
    /// - Throws: `Failure` with the path and the component that cannot be resolved.
    package static func resolve(
        _ paths: [String], of table: Table, in snapshot: Snapshot, names: BacklinkNames, acceptsLinks: Bool = true
    ) throws(Failure) -> KeyPathFilter {
        var chains: [[KeyPathFilter.Step]] = []
        var stepCount = 0
        var work = 0
        for path in paths {
            var resolver = KeyPathResolver(path, snapshot, names, acceptsLinks: acceptsLinks, work: work)
            chains += try resolver.resolve(from: table)
            work = resolver.work
            stepCount += resolver.stepCount
            guard stepCount <= KeyPathResolver.maximumSteps else { throw Failure(kind: .tooMany, path: path, component: path) }
        }
        return KeyPathFilter(paths: paths, chains: chains)
    }
}

extension KeyPathFilter {
    /// One step of a key path, which starts at an object of a class.
    package enum Step: Sendable, Hashable {
        case property(TableKey, ColumnKey)
        /// The step from an object of `target` to the objects of `origin` that link to it through a property.
        case linkingObjects(target: TableKey, origin: TableKey, ColumnKey)

        /// The table of the object at which the step starts.
        package var table: TableKey {
            switch self {
            case .property(let table, _): return table
            case .linkingObjects(let target, _, _): return target
            }
        }
    }
}
