// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Resolves one key path to chains of steps. It is used once.
struct KeyPathResolver {
    /// A component of a key path, between two dots.
    private enum Component {
        /// The name of a property, or a configured name of linking objects.
        case name(Substring)
        /// Linking objects by their class and property: `@links.Class.property`.
        case links(Substring, property: Substring)
        /// The wildcard `*`, which covers all properties of a class.
        case all
        /// All properties of a class, and those of the objects embedded in its objects.
        case embedded

        /// The component as it was written.
        var text: String {
            switch self {
            case .name(let name): return String(name)
            case .links(let origin, let property): return "@links.\(origin).\(property)"
            case .all: return "*"
            case .embedded: return KeyPathFilter.embeddedPath
            }
        }
    }

    /// A step together with the class that it leads to.
    private struct Choice {
        let step: KeyPathFilter.Step
        /// The class of the objects that it leads to; nil when it leads to none.
        let target: Table?
    }

    private let path: String
    /// The version in whose schema the path is resolved.
    private let snapshot: Snapshot
    /// The configured names of linking objects.
    private let names: BacklinkNames
    /// Whether `@links.Class.property` is accepted.
    private let acceptsLinks: Bool
    private var components: [Component] = []
    /// The chains found so far.
    private var chains: [[KeyPathFilter.Step]] = []

    /// The number of steps tried so far, with those for the paths before.
    private(set) var work: Int
    /// The number of steps in all chains.
    private(set) var stepCount = 0

    /// The number of steps that may be tried for the paths of a filter before they are rejected, because wildcards multiply in a
    /// schema with many links.
    private static let maximumWork = 20_000
    /// The number of steps that the chains of a filter may have in all.
    static let maximumSteps = 10_000
    /// The number of levels of embedded objects that `KeyPathFilter.embeddedPath` covers, because a class may be embedded in
    /// itself.
    private static let maximumEmbedding = 8
    /// The number of components that a path may have.
    private static let maximumComponents = 128

    /// Prepares the resolution of a path.
    ///
    /// - Parameters:
    ///   - snapshot: The version in whose schema it is resolved.
    ///   - names: The configured names of linking objects.
    ///   - acceptsLinks: Whether `@links.Class.property` is accepted.
    ///   - work: The number of steps that were tried for the paths before it.
    init(_ path: String, _ snapshot: Snapshot, _ names: BacklinkNames, acceptsLinks: Bool, work: Int) {
        self.work = work
        self.path = path
        self.snapshot = snapshot
        self.names = names
        self.acceptsLinks = acceptsLinks
    }

    /// Returns all chains that the path describes.
    ///
    /// - Parameter table: The class at whose objects the path starts.
    /// - Throws: `KeyPathFilter.Failure` with the component that cannot be resolved.
    mutating func resolve(from table: Table) throws(KeyPathFilter.Failure) -> [[KeyPathFilter.Step]] {
        if path == KeyPathFilter.embeddedPath {
            try followEmbedded(from: table, behind: [])
        } else {
            components = try split()
            try follow(components[...], from: table, behind: [], isChosen: true)
        }
        if chains.isEmpty { throw failure(.noMatch, path) }
        return chains
    }

    /// Splits the path into components; throws `malformed` for an empty one.
    private func split() throws(KeyPathFilter.Failure) -> [Component] {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false)
        var components: [Component] = []
        var index = 0
        while index < parts.count {
            let part = parts[index]
            if part.isEmpty { throw failure(.malformed, "") }
            if part == "@links", acceptsLinks {
                guard index + 2 < parts.count else { throw failure(.malformed, String(part)) }
                components.append(.links(parts[index + 1], property: parts[index + 2]))
                index += 3
                continue
            }
            if part.hasPrefix("*"), part != "*" { throw failure(.malformed, String(part)) }
            components.append(part == "*" ? .all : .name(part))
            index += 1
        }
        guard components.count <= KeyPathResolver.maximumComponents else { throw failure(.malformed, path) }
        return components
    }

    /// Follows the rest of the path from a class, and adds the chains that are found.
    ///
    /// - Parameters:
    ///   - rest: The remaining components.
    ///   - table: The class at which they start.
    ///   - chain: The steps before.
    ///   - isChosen: Whether the previous component was a name, so that a component that does not fit is
    ///     an error. After a wildcard such a component is skipped.
    private mutating func follow(
        _ rest: ArraySlice<Component>, from table: Table, behind chain: [KeyPathFilter.Step], isChosen: Bool
    ) throws(KeyPathFilter.Failure) {
        guard let component = rest.first else { return }
        if case .all = component {
            for choice in choices(of: table) {
                try append(choice, rest, behind: chain, isChosen: false, endsEarly: rest.allSatisfy(KeyPathResolver.isAll))
            }
            return
        }
        guard let choice = choice(component, of: table) else {
            if isChosen { throw failure(.unknownProperty, component.text) }
            return
        }
        try append(choice, rest, behind: chain, isChosen: true, endsEarly: false)
    }

    /// Adds chains to all properties of a class, and to those of the objects embedded in its objects.
    ///
    /// - Parameters:
    ///   - chain: The steps to it, which pass through embedded objects only.
    private mutating func followEmbedded(
        from table: Table, behind chain: [KeyPathFilter.Step]
    ) throws(KeyPathFilter.Failure) {
        for column in table.columns {
            let choice = choice(column, of: table)
            try append(choice, [.embedded], behind: chain, isChosen: true, endsEarly: false)
            guard let target = choice.target, target.kind == .embedded else { continue }
            guard chain.count < KeyPathResolver.maximumEmbedding else { continue }
            try followEmbedded(from: target, behind: chain + [choice.step])
        }
    }

    /// Returns whether the component is a wildcard.
    private static func isAll(_ component: Component) -> Bool {
        if case .all = component { return true }
        return false
    }

    /// Adds a step to a chain, and follows the rest of the path from the class that the step leads to.
    ///
    /// - Parameters:
    ///   - choice: The step with its class.
    ///   - rest: The components from the one that the step was found for.
    ///   - chain: The steps before.
    ///   - isChosen: Whether the component was a name, so that an error after it is reported.
    ///   - endsEarly: Whether the chain may end before the path does, because only wildcards follow.
    private mutating func append(
        _ choice: Choice, _ rest: ArraySlice<Component>, behind chain: [KeyPathFilter.Step], isChosen: Bool, endsEarly: Bool
    ) throws(KeyPathFilter.Failure) {
        work += 1
        guard work <= KeyPathResolver.maximumWork else { throw failure(.tooMany, path) }
        let longer = chain + [choice.step]
        guard rest.count > 1, let target = choice.target else {
            if rest.count > 1, !endsEarly {
                if isChosen, let component = rest.first { throw failure(.notTraversable, component.text) }
                return
            }
            // Chains are kept as long as the observation.
            stepCount += longer.count
            guard stepCount <= KeyPathResolver.maximumSteps else { throw failure(.tooMany, path) }
            chains.append(longer)
            return
        }
        try follow(rest.dropFirst(), from: target, behind: longer, isChosen: isChosen)
    }

    // MARK: - Properties

    /// Returns the step of a component from a class; nil when the class has no such property.
    private func choice(_ component: Component, of table: Table) -> Choice? {
        switch component {
        case .all, .embedded: return nil
        case .links(let origin, let property): return backlink("\(origin).\(property)", of: table)
        case .name(let name):
            if let column = table.column(named: String(name)) { return choice(column, of: table) }
            guard let source = names.byClass[table.className ?? ""]?[String(name)] else { return nil }
            return backlink(source, of: table)
        }
    }

    /// Returns the steps of all properties of a class; configured names of linking objects come last.
    private func choices(of table: Table) -> [Choice] {
        let sources = (names.byClass[table.className ?? ""] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        return table.columns.map { choice($0, of: table) } + sources.compactMap { backlink($0, of: table) }
    }

    /// Returns the step of a property.
    private func choice(_ column: Column, of table: Table) -> Choice {
        let target = column.type == .link ? column.targetTable.flatMap { snapshot.table($0) } : nil
        return Choice(step: .property(table.key, column.key), target: target)
    }

    /// Returns the step to linking objects, from the text of their class and property; nil when there is no such link.
    private func backlink(_ source: String, of table: Table) -> Choice? {
        guard let (origin, column, _) = table.backlinkColumn(from: source, in: snapshot) else { return nil }
        return Choice(step: .linkingObjects(target: table.key, origin: origin.key, column.key), target: origin)
    }

    /// Makes the error for one component of the path.
    private func failure(_ kind: KeyPathFilter.Failure.Kind, _ component: String) -> KeyPathFilter.Failure {
        KeyPathFilter.Failure(kind: kind, path: path, component: component)
    }
}
