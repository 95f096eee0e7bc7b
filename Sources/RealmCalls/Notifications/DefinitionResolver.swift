// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Resolves the names in a definition against the schema and the objects of one version.
///
/// The result names the target for the observation hub, and the kind of rows for the encoder. All
/// errors in a definition are found here, before anything is observed. A value is made for one
/// definition, on the thread of the request, and on the hub's thread after a change of the schema.
struct DefinitionResolver {
    /// The definition to resolve, as the client wrote it.
    let definition: SubscriptionDefinition
    /// The version whose schema and objects the names of the definition refer to.
    let version: Version
    /// The realm of the definition, which has configured names of linking objects.
    let database: Database
    /// Limits the time for the queries of the definition, and reports when its client has left.
    let budget: WorkBudget

    /// The contents of the version in which the definition is resolved.
    private var snapshot: Snapshot { version.snapshot }

    /// Resolves the definition.
    ///
    /// - Returns: The target to observe, and the kind of its rows.
    /// - Throws: `class_not_found`, `object_not_found`, `unknown_key_path`, `invalid_query` and other problems that name the
    ///   parameter which is wrong.
    func resolve() throws(Problem) -> ResolvedSubscription {
        guard let className = definition.className else { return resolved(.realm, .realm, element: nil, filter: .all) }
        guard let table = snapshot.classTable(named: className) else {
            throw Problem.noClass(className, in: snapshot).with("parameter", "class")
        }
        guard let key = definition.key else { return try result(of: table) }
        guard let row = try Problem.stored(KeyText.find(key, in: table)) else {
            throw Problem.noObject(key, in: table).with("parameter", "key")
        }
        guard let property = definition.property else { return try object(row, in: table) }
        return try self.property(property, of: row, in: table)
    }

    // MARK: - Kinds

    /// Resolves a definition of the objects of a class, with or without sections.
    private func result(of table: Table) throws(Problem) -> ResolvedSubscription {
        guard definition.sectionBy != nil else {
            let query = try query(over: table)
            return try resolved(.results(table.key, query), .objects(table.key), of: table)
        }
        let (query, sections) = try sections(of: table)
        return try resolved(.sections(table.key, query, sections), .sections(table.key), of: table)
    }

    /// Resolves a definition of a single object.
    private func object(_ row: Row, in table: Table) throws(Problem) -> ResolvedSubscription {
        let object = ObservedObject(table.key, row.key)
        return try resolved(.object(object), .object(object), of: table)
    }

    /// Resolves a definition of a property: linking objects, a collection, or a single embedded object.
    private func property(_ text: String, of row: Row, in table: Table) throws(Problem) -> ResolvedSubscription {
        let planner = ObjectPlanner(snapshot, backlinkNames: database.backlinkNames.byClass)
        if let linking = planner.linkingObjects(text, table) {
            let query = definition.isView ? try query(over: linking.origin) : nil
            let kind = ObservedTarget.Kind.linkingObjects(
                to: ObservedObject(table.key, row.key), origin: linking.origin.key, linking.column.key, query)
            return try resolved(kind, .objects(linking.origin.key), of: linking.origin)
        }
        let target = try self.target(text, of: row, in: table)
        let linked = target.column.type == .link ? target.column.targetTable.flatMap { snapshot.table($0) } : nil
        if target.element != nil || target.column.collection == nil {
            return try embedded(target, linked)
        }
        return try collection(target, linked)
    }

    /// Finds the property at a path below an object. A path that leads nowhere at present is
    /// `object_not_found`, and a path that the schema does not allow is `unknown_key_path`.
    private func target(_ text: String, of row: Row, in table: Table) throws(Problem) -> PropertyTarget {
        do throws(Problem) {
            return try PropertyTarget.find(text, from: row, in: table, snapshot)
        } catch {
            guard error.code == .notFound else { throw error.with("parameter", "property") }
            throw Problem(.unknownKeyPath, error.detail).with("parameter", "property")
        }
    }

    /// Resolves a definition of a single embedded object: the object that is at the path in this
    /// version, wherever it moves later.
    private func embedded(_ target: PropertyTarget, _ linked: Table?) throws(Problem) -> ResolvedSubscription {
        guard let linked, linked.kind == .embedded else {
            throw .invalidParameter("property", "'property' must be a collection, linking objects or an embedded object")
        }
        if definition.isView { throw .conflict("a query needs a collection", parameter: "where") }
        let value = try Problem.mapping { () throws(StorageError) in
            if let element = target.element { return element }
            return try target.row.value(target.column)
        }
        guard case .link(_, let key) = value else {
            throw Problem(.objectNotFound, "there is nothing at this path in this object").with("parameter", "property")
        }
        let object = ObservedObject(linked.key, key)
        return try resolved(.object(object), .object(object), of: linked)
    }

    /// Resolves a definition of a list, set or dictionary, or of a query over it.
    private func collection(_ target: PropertyTarget, _ linked: Table?) throws(Problem) -> ResolvedSubscription {
        let property = ObservedProperty(ObservedObject(target.table.key, target.row.key), target.column.key)
        let isOfObjects = linked.map { $0.kind != .embedded } ?? false
        let kind: ObservedTarget.Kind
        if definition.isView {
            // Embedded objects have properties to select and order by as well.
            let query = if let linked { try query(over: linked) } else { try query(over: target) }
            kind = .view(property, query)
        } else {
            kind = .collection(property)
        }
        let shape: ResolvedSubscription.Shape
        if target.column.collection == .dictionary, !definition.isView {
            shape = .entries(property)
        } else if isOfObjects, let linked {
            shape = .objects(linked.key)
        } else {
            shape = .values(property)
        }
        if let linked { return try resolved(kind, shape, of: linked) }
        try checkValues(target)
        return resolved(kind, shape, element: nil, filter: definition.isShallow ? .shallow : .all)
    }

    /// Throws for parameters that need properties, when the elements of a collection are values and have none.
    private func checkValues(_ target: PropertyTarget) throws(Problem) {
        if let path = definition.keyPaths.first {
            throw Problem(.unknownKeyPath, "the elements of '\(target.column.name)' have no property '\(path)'").with(
                "parameter", "keyPaths")
        }
        if definition.countsEmbedded {
            throw .conflict("the elements of '\(target.column.name)' have no embedded objects", parameter: "deep")
        }
        for (name, isGiven) in [("fields", definition.fields != nil), ("expand", !definition.expand.isEmpty)] where isGiven {
            throw Problem(.unknownKeyPath, "the elements of '\(target.column.name)' are not objects").with("parameter", name)
        }
    }

    // MARK: - Queries

    /// The arguments of the query, with their types from the schema.
    private var arguments: [QueryArgument] {
        get throws(Problem) { try ArgumentDecoder(snapshot).decode(definition.args) }
    }

    /// The check that stops the binding of a query.
    private var check: BoundQuery.Check { { [budget] in budget.continues } }

    /// The order and the distinct key paths that the parameters name.
    private var order: ResultOrder {
        ResultOrder(
            sort: definition.sort.map { ResultOrder.Key(path: $0.path, isAscending: $0.isAscending) },
            distinct: definition.distinct)
    }

    /// Makes the query over objects. It is bound once, to find its errors.
    private func query(over table: Table) throws(Problem) -> ObservedQuery {
        try bind(try parse(), to: table, order, in: QueryPartNames()).query
    }

    /// Binds the query over objects.
    ///
    /// - Parameters:
    ///   - table: The class of the objects.
    ///   - order: The order in addition to that of the query.
    ///   - names: The parameters that its parts were read from.
    /// - Returns: The query to observe, and the bound one.
    /// - Throws: The problem of the query, with its parameter.
    private func bind(
        _ query: Query, to table: Table, _ order: ResultOrder, in names: QueryPartNames
    ) throws(Problem) -> (query: ObservedQuery, bound: BoundQuery) {
        let arguments = try arguments
        do throws(QueryError) {
            let bound = try query.bind(
                to: table, in: snapshot, arguments: arguments, mapping: database.backlinkNames.mapping, order: order, check: check
            )
            return (ObservedQuery(query, arguments, order: order, limit: definition.limit), bound)
        } catch {
            throw Problem(error, in: names, budget)
        }
    }

    /// Makes the query over elements that are values, which the query names `self`. It is bound once, to find its errors.
    private func query(over target: PropertyTarget) throws(Problem) -> ObservedQuery {
        let query = try parse()
        let arguments = try arguments
        do throws(QueryError) {
            _ = try ElementQuery.bind(
                query, to: target.column, of: target.table, in: snapshot, arguments: arguments, order: order, check: check)
        } catch {
            throw Problem(error, in: QueryPartNames(), budget)
        }
        return ObservedQuery(query, arguments, order: order, limit: definition.limit)
    }

    /// Parses `where`. An order within the text excludes the parameters `sort`, `distinct` and `limit`.
    private func parse() throws(Problem) -> Query {
        let query = try ObjectQuery.parse(definition.predicate, "where")
        guard query.hasDescriptors else { return query }
        let given = [
            ("sort", !definition.sort.isEmpty), ("distinct", !definition.distinct.isEmpty), ("limit", definition.limit != nil),
        ]
        if let (name, _) = given.first(where: \.1) {
            throw .conflict("'\(name)' cannot be combined with SORT, DISTINCT or LIMIT in 'where'", parameter: name)
        }
        return query
    }

    // MARK: - Sections

    /// Makes the query and the division into sections. The order has to begin with the key path of
    /// the sections, so it is added where the definition has none.
    ///
    /// - Parameter table: The class of the rows.
    /// - Throws: `conflicting_parameters` for another order, and `invalid_parameter` for a division
    ///   that the type of the property does not allow.
    private func sections(of table: Table) throws(Problem) -> (ObservedQuery, ObservedSections) {
        var grouping = try SectionGrouping(definition.sectionBy ?? "")
        grouping.resolve(.objects(table), database.backlinkNames.mapping, in: snapshot)
        try check(grouping, table)
        try grouping.requireValues(of: table, in: snapshot)
        let parsed = try parse()
        var order = order
        var names = QueryPartNames()
        if definition.sort.isEmpty, !parsed.hasDescriptors {
            order.sort = [ResultOrder.Key(path: grouping.path, isAscending: true)]
            names = QueryPartNames(sort: "sectionBy")
        }
        let (query, bound) = try bind(parsed, to: table, order, in: names)
        if let first = definition.sort.first {
            guard first.path == grouping.path else { throw DefinitionResolver.wrongSort }
        } else if parsed.hasDescriptors {
            guard let label = bound.sortLabels.first, label == grouping.path || label == "-" + grouping.path else {
                throw DefinitionResolver.wrongSort
            }
        }
        var fit: (@Sendable (SectionIdentity) -> Int)?
        if let name = definition.section.map({ SectionName($0) }) { fit = { SectionKey($0).fit(name).rawValue } }
        let key: @Sendable (PagePosition.Cell) throws(ObservationError) -> SectionIdentity = grouping.identity
        return (query, ObservedSections(key: key, fit: fit))
    }

    /// Applies the function of the sections to a sample value, so that a function which does not
    /// take the values of its property is refused here, and not at the first row.
    private func check(_ grouping: SectionGrouping, _ table: Table) throws(Problem) {
        let sample: QueryArgument
        switch table.column(named: grouping.path)?.type {
        case .int: sample = .int(0)
        case .bool, .binary, .objectID, .uuid: sample = .bool(false)
        case .float: sample = .float(0)
        case .double: sample = .double(0)
        case .string: sample = .string("")
        case .timestamp: sample = .timestamp(Timestamp(seconds: 0, nanoseconds: 0))
        default: return
        }
        _ = try grouping.key(.value(sample))
    }

    /// The problem for an order that does not begin with the key path of the sections.
    private static let wrongSort = Problem.conflict(
        "the sort must begin with the key path of the sections", parameter: "sectionBy")

    // MARK: - The target

    /// Resolves the key paths whose changes count, and checks `fields` and `expand`.
    ///
    /// - Parameters:
    ///   - shape: The kind of rows.
    ///   - element: The class that the key paths begin at.
    /// - Throws: `unknown_key_path` for a path that names nothing in the class.
    private func resolved(
        _ kind: ObservedTarget.Kind, _ shape: ResolvedSubscription.Shape, of element: Table
    ) throws(Problem) -> ResolvedSubscription {
        try checkShown(element)
        let paths = definition.countsEmbedded ? [KeyPathFilter.embeddedPath] : definition.keyPaths
        guard !paths.isEmpty else {
            return resolved(kind, shape, element: element, filter: definition.isShallow ? .shallow : .all)
        }
        try Problem.stored(budget.check())
        do throws(KeyPathFilter.Failure) {
            let filter = try KeyPathFilter.resolve(paths, of: element, in: snapshot, names: database.backlinkNames)
            return resolved(kind, shape, element: element, filter: .keyPaths(filter))
        } catch {
            let what =
                error.component.isEmpty ? "the key path '\(error.path)'" : "'\(error.component)' in the key path '\(error.path)'"
            throw Problem(.unknownKeyPath, "\(what) \(DefinitionResolver.text(of: error.kind))").with(
                "parameter", definition.countsEmbedded ? "deep" : "keyPaths")
        }
    }

    /// Words for an error in a key path, which follow its name: for example, that it is not a property.
    private static func text(of kind: KeyPathFilter.Failure.Kind) -> String {
        switch kind {
        case .unknownProperty: return "is not a property there"
        case .notTraversable: return "does not lead to objects"
        case .noMatch: return "matches no property"
        case .malformed: return "is not a well-formed key path"
        case .tooMany: return "matches too many properties"
        }
    }

    /// Throws for `fields` and `expand` that name unknown properties.
    private func checkShown(_ element: Table) throws(Problem) {
        guard definition.fields != nil || !definition.expand.isEmpty else { return }
        let distance = try SelectionParameters.SortTerm.distance(
            shownBy: definition.fields, among: definition.sort, of: element, in: snapshot,
            mapping: database.backlinkNames.mapping)
        do throws(ObjectPlanner.UnknownPath) {
            _ = try ObjectPlanner(snapshot, backlinkNames: database.backlinkNames.byClass).plan(
                element, fields: definition.fields.map { PathTree($0) }, expand: PathTree(definition.expand), distance: distance)
        } catch {
            throw Problem(error)
        }
    }

    /// Combines the observed target, the relevant changes and the kind of rows into the result of resolving.
    private func resolved(
        _ kind: ObservedTarget.Kind, _ shape: ResolvedSubscription.Shape, element: Table?, filter: ObservedTarget.Filter
    ) -> ResolvedSubscription {
        ResolvedSubscription(target: ObservedTarget(kind, filter: filter, identity: identity(kind)), shape: shape)
    }

    /// Text that is equal for definitions which can share one observation: everything but the form of rows.
    ///
    /// The observed object is part of it, because a later object may have the same primary key.
    private func identity(_ kind: ObservedTarget.Kind) -> String {
        var plain = definition
        plain.fields = nil
        plain.expand = []
        plain.include = .objects
        plain.representation = Representation()
        var text = plain.identity
        switch kind {
        case .object(let object), .linkingObjects(let object, _, _, _): text += "\(object.table.rawValue)/\(object.key.rawValue)"
        case .collection(let property), .view(let property, _):
            text += "\(property.object.table.rawValue)/\(property.object.key.rawValue)"
        case .realm, .results, .sections: break
        }
        // Links among the arguments refer to the objects that have the keys in this version.
        if !definition.args.isEmpty, let arguments = try? arguments { text += String(describing: arguments) }
        return text
    }
}
