// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmStorage

/// Compiles plans against one snapshot.
package struct ObjectPlanner {
    /// Expansion goes at most so many links deep.
    package static let maximumExpansionDepth = 3

    /// A path that leads nowhere.
    package struct UnknownPath: Error, Sendable, Equatable {
        /// `fields` or `expand`.
        package let parameter: String
        package let path: String
        package let detail: String
    }

    private let snapshot: Snapshot
    /// Names of linking objects that the configuration gives, by class: `owners` → `Person.dogs`.
    private let backlinkNames: [String: [String: String]]
    /// Plans for whole embedded objects, each made once however often its class is embedded.
    private let embedded: EmbeddedPlans

    /// A planner for the classes of a version, with names for linking objects by class.
    package init(_ snapshot: Snapshot, backlinkNames: [String: [String: String]] = [:]) {
        self.init(snapshot, backlinkNames: backlinkNames, embedded: EmbeddedPlans(snapshot))
    }

    init(_ snapshot: Snapshot, backlinkNames: [String: [String: String]] = [:], embedded: EmbeddedPlans) {
        self.snapshot = snapshot
        self.backlinkNames = backlinkNames
        self.embedded = embedded
    }

    /// The plan for objects of `table`. Without `fields` all stored properties are written.
    package func plan(_ table: Table, fields: PathTree? = nil, expand: PathTree = PathTree()) throws(UnknownPath) -> ObjectPlan {
        guard expand.depth <= ObjectPlanner.maximumExpansionDepth else {
            throw UnknownPath(parameter: "expand", path: "", detail: "at most \(ObjectPlanner.maximumExpansionDepth) links deep")
        }
        return try plan(table, fields, expand, path: "")
    }

    private func plan(
        _ table: Table, _ fields: PathTree?, _ expand: PathTree, path: String
    ) throws(UnknownPath) -> ObjectPlan {
        var members: [ObjectPlan.Member] = []
        if let fields {
            for name in fields.order {
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
            // Stored properties were taken above; what is left are linking objects, or mistakes.
            let isStored = fields == nil && table.column(named: name) != nil
            if isStored { continue }
            members.append(try member(name, of: table, fields: nil, expand: expand, path: path, parameter: "expand"))
        }
        return ObjectPlan(table: table, members: members, isWhole: fields == nil && members.count == table.columns.count)
    }

    private func member(
        _ name: String, of table: Table, fields: PathTree?, expand: PathTree, path: String,
        parameter: String
    ) throws(UnknownPath) -> ObjectPlan.Member {
        if let column = table.column(named: name) {
            return try member(column, of: table, fields: fields, expand: expand[name], path: path)
        }
        guard let (origin, column, backlinks) = linkingObjects(name, table) else {
            let detail = "class \(table.className ?? "") has no property '\(name)'"
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
                detail: "'\(path + column.name)' is not a link")
        }
        return Member(column, links: links, embeddedPlan: embeddedPlan)
    }

    private typealias Member = ObjectPlan.Member

    /// Finds `@links.Class.property`, or a name that the configuration gives to one.
    package func linkingObjects(_ name: String, _ table: Table) -> (origin: Table, column: Column, backlinks: Column)? {
        if let path = backlinkNames[table.className ?? ""]?[name] { return table.backlinkColumn(from: path, in: snapshot) }
        let prefix = "@links."
        guard name.hasPrefix(prefix) else { return nil }
        return table.backlinkColumn(from: String(name.dropFirst(prefix.count)), in: snapshot)
    }

    private func escaped(_ name: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.key(name)
        return writer.bytes
    }
}
