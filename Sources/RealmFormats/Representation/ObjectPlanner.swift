// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
package import RealmQuery
package import RealmStorage

/// Compiles plans for the objects of one snapshot, from the parameters `fields` and `expand`.
package struct ObjectPlanner {
    /// The number of consecutive links that a path in `expand` may follow.
    package static let maximumExpansionDepth = 3

    /// The error of a path in `fields` or `expand` that leads to no property.
    package struct UnknownPath: Error, Sendable, Equatable {
        /// The parameter with the path: `fields` or `expand`.
        package let parameter: String
        /// The path up to the step that does not exist; empty when the paths are too long.
        package let path: String
        /// A sentence for the client, with the class and the unknown name.
        package let detail: String
    }

    /// The version whose classes are shown.
    private let snapshot: Snapshot
    /// Names that the configuration gives to linking objects, by class: `owners` for `Person.dogs`.
    private let backlinkNames: [ByteText: [ByteText: String]]
    /// The plans for whole embedded objects; each is made once, however often its class is embedded.
    private let embedded: EmbeddedPlans

    /// Creates a planner.
    ///
    /// - Parameters:
    ///   - snapshot: The version whose classes are shown.
    ///   - backlinkNames: Names for linking objects by class, from the configuration.
    package init(_ snapshot: Snapshot, backlinkNames: [ByteText: [ByteText: String]] = [:]) {
        self.init(snapshot, backlinkNames: backlinkNames, embedded: EmbeddedPlans(snapshot))
    }

    /// Creates a planner that shares its plans for embedded objects with others of the same snapshot.
    ///
    /// - Parameters:
    ///   - snapshot: The version whose classes are shown.
    ///   - backlinkNames: Names for linking objects by class, from the configuration.
    ///   - embedded: The shared plans.
    package init(_ snapshot: Snapshot, backlinkNames: [ByteText: [ByteText: String]] = [:], embedded: EmbeddedPlans) {
        self.snapshot = snapshot
        self.backlinkNames = backlinkNames
        self.embedded = embedded
    }

    /// Returns the plan for the objects of a class.
    ///
    /// - Parameters:
    ///   - fields: The paths to show; nil for all stored properties.
    ///   - expand: The links to replace by their targets.
    ///   - distance: The meaning of `@distance` in `fields`; nil when the order has no distance.
    /// - Throws: `UnknownPath` for a path that leads to no property, or to one that is not a link
    ///   where it should be expanded, or when `expand` is too deep.
    package func plan(
        _ table: Table, fields: PathTree? = nil, expand: PathTree = PathTree(), distance: DistancePath? = nil
    ) throws(UnknownPath) -> ObjectPlan {
        guard expand.depth <= ObjectPlanner.maximumExpansionDepth else {
            throw UnknownPath(parameter: "expand", path: "", detail: "at most \(ObjectPlanner.maximumExpansionDepth) links deep")
        }
        return try plan(table, fields, expand, path: "", distance: distance)
    }

    /// Returns the plan for one level of the paths.
    ///
    /// - Parameters:
    ///   - table: The class at this level.
    ///   - fields: The paths that continue here; nil for all stored properties.
    ///   - expand: The expansions that continue here.
    ///   - path: The steps so far, each followed by a dot, for errors.
    ///   - distance: The meaning of `@distance` at this level; nil for none.
    private func plan(
        _ table: Table, _ fields: PathTree?, _ expand: PathTree, path: String, distance: DistancePath? = nil
    ) throws(UnknownPath) -> ObjectPlan {
        var members: [ObjectPlan.Member] = []
        if let fields {
            for name in fields.order {
                if name == DistanceTerm.word {
                    members.append(try member(of: distance, path: path))
                    continue
                }
                let below = fields[name] ?? PathTree()
                members.append(
                    try member(
                        name, of: table, fields: below.isEmpty ? nil : below, expand: expand, path: path, parameter: "fields"))
            }
        } else {
            for column in table.columns {
                members.append(try member(column, of: table, fields: nil, expand: expand[column.name], path: path))
            }
        }
        for name in expand.order where fields?[name] == nil {
            // Stored properties were added above; the rest are linking objects, or unknown names.
            let isStored = fields == nil && table.column(named: name) != nil
            if isStored { continue }
            members.append(try member(name, of: table, fields: nil, expand: expand, path: path, parameter: "expand"))
        }
        return ObjectPlan(table: table, members: members, isWhole: fields == nil && members.count == table.columns.count)
    }

    /// Returns the member `@distance`.
    ///
    /// - Throws: `UnknownPath` where the order has no distance, and below the objects themselves.
    private func member(of distance: DistancePath?, path: String) throws(UnknownPath) -> ObjectPlan.Member {
        guard let distance else {
            throw UnknownPath(
                parameter: "fields", path: path + DistanceTerm.word,
                detail: "'\(DistanceTerm.word)' needs sort=@distance(path, [longitude, latitude])")
        }
        return ObjectPlan.Member(
            name: DistanceTerm.word, escapedKey: escaped(DistanceTerm.word), source: .distance(distance), links: .none,
            embeddedPlan: nil)
    }

    /// Returns the member for a name that a client gave: a stored property or linking objects.
    ///
    /// - Throws: `UnknownPath` when the class has neither.
    private func member(
        _ name: String, of table: Table, fields: PathTree?, expand: PathTree, path: String,
        parameter: String
    ) throws(UnknownPath) -> ObjectPlan.Member {
        if let column = table.column(named: name) {
            return try member(column, of: table, fields: fields, expand: expand[name], path: path)
        }
        guard let (origin, column, backlinks) = linkingObjects(name, table) else {
            let linking = backlinkNames[table.className ?? ""].map(\.keys.texts) ?? []
            let hint = table.hint(for: name, and: linking.filter { linkingObjects($0, table) != nil })
            let detail = "class \(table.className ?? "") has no property '\(name.truncated)'\(hint)"
            throw UnknownPath(parameter: parameter, path: path + name, detail: detail)
        }
        let links: ObjectPlan.Links
        if fields != nil || expand[name] != nil {
            links = .expanded(try plan(origin, fields, expand[name] ?? PathTree(), path: path + name + "."))
        } else {
            links = .stubs
        }
        return ObjectPlan.Member(
            name: name, escapedKey: escaped(name),
            source: .linkingObjects(origin: origin, column: column, backlinks: backlinks), links: links, embeddedPlan: nil)
    }

    /// Returns the member for a stored property.
    ///
    /// - Throws: `UnknownPath` when a path continues through something that is not a link.
    private func member(
        _ column: Column, of table: Table, fields: PathTree?, expand: PathTree?, path: String
    ) throws(UnknownPath) -> ObjectPlan.Member {
        let target = column.type == .link ? column.targetTable.flatMap { snapshot.table($0) } : nil
        let below = path + column.name + "."
        var links = column.type == .link || column.type == .mixed ? ObjectPlan.Links.stubs : .none
        var embeddedPlan: ObjectPlan?
        if let target, target.kind == .embedded {
            guard fields != nil || !(expand?.isEmpty ?? true) else { return embedded.member(column, of: target) }
            links = .embedded
            embeddedPlan = try plan(target, fields, expand ?? PathTree(), path: below)
        } else if let target, fields != nil || expand != nil {
            links = .expanded(try plan(target, fields, expand ?? PathTree(), path: below))
        } else if fields != nil || (expand != nil && column.type != .mixed) {
            let wrong = fields?.order.first ?? ""
            throw UnknownPath(
                parameter: fields != nil ? "fields" : "expand", path: below + wrong,
                detail: column.type == .link
                    ? "'\(path + column.name)' leads to objects that this realm does not show"
                    : "'\(path + column.name)' is not a link")
        }
        return Member(column, links: links, embeddedPlan: embeddedPlan)
    }

    /// A short name for a member of a plan.
    private typealias Member = ObjectPlan.Member

    /// Finds linking objects by `@links.Class.property`, or by a name that the configuration gives them.
    ///
    /// - Parameters:
    ///   - name: The name that a client gave.
    /// - Returns: The class of the linking objects, their linking column, and the backlink column
    ///   in `table`; nil when there are none of this name.
    package func linkingObjects(_ name: String, _ table: Table) -> (origin: Table, column: Column, backlinks: Column)? {
        if let path = backlinkNames[table.className ?? ""]?[name] { return table.backlinkColumn(from: path, in: snapshot) }
        return name.dropping(prefix: "@links.").flatMap { table.backlinkColumn(from: String($0), in: snapshot) }
    }

    /// Returns a name as JSON text, with quotation marks, escapes and a colon.
    private func escaped(_ name: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.key(name)
        return writer.bytes
    }
}

/// Makes the problems of `fields` and `expand`.
extension Problem {
    /// Makes the problem of a path in `fields` or `expand` that leads nowhere (`unknown_key_path`),
    /// or is too long (`invalid_parameter`).
    package init(_ unknown: ObjectPlanner.UnknownPath) {
        // The path is empty when it exists but is too long.
        if unknown.path.isEmpty {
            self = .invalidParameter(unknown.parameter, unknown.detail)
        } else {
            self = Problem(.unknownKeyPath, unknown.detail).with("parameter", unknown.parameter)
        }
    }
}
