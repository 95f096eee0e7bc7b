// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Finds out what one key path stands for.
struct KeyPathResolver {
    /// A part of a key path between two dots.
    private enum Component {
        case name(Substring)
        case links(Substring, property: Substring)
        case all

        /// The part as it was written.
        var text: String {
            switch self {
            case .name(let name): return String(name)
            case .links(let origin, let property): return "@links.\(origin).\(property)"
            case .all: return "*"
            }
        }
    }

    /// A step, and where it leads; nil is to no objects.
    private struct Choice {
        /// Where it leads.
        let step: KeyPathStep
        /// The class of the objects that it leads to; nil when it leads to none.
        let target: Table?
    }

    /// The path as it was given.
    private let path: String
    /// The version in whose schema it is resolved.
    private let snapshot: Snapshot
    /// Names of linking objects.
    private let names: BacklinkNames
    /// Whether `@links.Class.property` is accepted.
    private let acceptsLinks: Bool
    /// The parts of the path.
    private var components: [Component] = []
    /// What was found so far.
    private var chains: [[KeyPathStep]] = []

    /// How many steps have been looked at.
    private var work = 0
    /// Steps of all chains.
    private(set) var stepCount = 0

    /// What stars may cost before the path is refused: a schema with many links multiplies them.
    private static let maximumWork = 20_000
    /// Steps that a filter keeps, all its paths together.
    static let maximumSteps = 10_000
    /// Parts that a path may have.
    private static let maximumComponents = 128

    /// Resolves `path` in a version.
    init(_ path: String, _ snapshot: Snapshot, _ names: BacklinkNames, acceptsLinks: Bool) {
        self.path = path
        self.snapshot = snapshot
        self.names = names
        self.acceptsLinks = acceptsLinks
    }

    /// All chains that the path stands for, from objects of a class.
    mutating func resolve(from table: Table) throws(KeyPathFilter.Failure) -> [[KeyPathStep]] {
        components = try split()
        try follow(components[...], from: table, behind: [], isChosen: true)
        if chains.isEmpty { throw failure(.noMatch, path) }
        return chains
    }

    /// The parts of the path; throws `malformed` for an empty one.
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

    /// `isChosen` means that the component before was a name, or that there is none, so that what does not fit is a mistake.
    /// A star chooses nothing: what does not fit after it is left out.
    private mutating func follow(
        _ rest: ArraySlice<Component>, from table: Table, behind chain: [KeyPathStep], isChosen: Bool
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

    /// Whether the part is a star.
    private static func isAll(_ component: Component) -> Bool {
        if case .all = component { return true }
        return false
    }

    /// Adds the chains that begin with `chain` and go on from a class.
    private mutating func append(
        _ choice: Choice, _ rest: ArraySlice<Component>, behind chain: [KeyPathStep], isChosen: Bool, endsEarly: Bool
    ) throws(KeyPathFilter.Failure) {
        work += 1
        guard work <= KeyPathResolver.maximumWork else { throw failure(.tooMany, path) }
        let longer = chain + [choice.step]
        guard rest.count > 1, let target = choice.target else {
            if rest.count > 1, !endsEarly {
                if isChosen, let component = rest.first { throw failure(.notTraversable, component.text) }
                return
            }
            // Chains are kept for as long as the observation.
            stepCount += longer.count
            guard stepCount <= KeyPathResolver.maximumSteps else { throw failure(.tooMany, path) }
            chains.append(longer)
            return
        }
        try follow(rest.dropFirst(), from: target, behind: longer, isChosen: isChosen)
    }

    // MARK: - Properties

    /// Where a part leads from a class; nil when the class has no such property.
    private func choice(_ component: Component, of table: Table) -> Choice? {
        switch component {
        case .all: return nil
        case .links(let origin, let property): return backlink("\(origin).\(property)", of: table)
        case .name(let name):
            if let column = table.column(named: String(name)) { return choice(column, of: table) }
            guard let source = names.byClass[table.className ?? ""]?[String(name)] else { return nil }
            return backlink(source, of: table)
        }
    }

    /// All properties, linking objects that have a name last.
    private func choices(of table: Table) -> [Choice] {
        let sources = (names.byClass[table.className ?? ""] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        return table.columns.map { choice($0, of: table) } + sources.compactMap { backlink($0, of: table) }
    }

    /// Where a property leads.
    private func choice(_ column: Column, of table: Table) -> Choice {
        let target = column.type == .link ? column.targetTable.flatMap { snapshot.table($0) } : nil
        return Choice(step: .property(table.key, column.key), target: target)
    }

    /// Where linking objects lead, by the class and property that they come from.
    private func backlink(_ source: String, of table: Table) -> Choice? {
        guard let (origin, column, _) = table.backlinkColumn(from: source, in: snapshot) else { return nil }
        return Choice(step: .linkingObjects(target: table.key, origin: origin.key, column.key), target: origin)
    }

    /// An error about one part of the path.
    private func failure(_ kind: KeyPathFilter.Failure.Kind, _ component: String) -> KeyPathFilter.Failure {
        KeyPathFilter.Failure(kind: kind, path: path, component: component)
    }
}
