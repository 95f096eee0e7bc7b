// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The API description of one realm, derived from its schema in one version.
///
/// It has the operations on objects once per class, and for each class schemas with its properties, so that generated clients
/// have a type for each class. Names of classes that are no identifiers are mapped to identifiers; the original is kept in
/// `x-realm-name`. `/v1/realms/{realm}/openapi.json` returns the document.
///
/// It describes plain JSON and leaves out other representations, which generated clients cannot use.
///
/// A value is made for one request and holds the snapshot that it reads.
package struct OpenAPIRealm {
    /// The name of the realm, as the paths have it.
    let realm: String
    /// The version whose classes are described.
    let snapshot: Snapshot
    /// The form of integers in the responses that are described.
    let ints: OpenAPIDocument.Integers
    /// The limits of the server, which bodies state.
    let limits: Limits
    /// The level of detail.
    let profile: OpenAPIDocument.Profile
    /// The values that creates take for properties they leave out.
    let defaults: ClassDefaults
    /// The paths besides those of classes; none in the simple description.
    let shared: [OpenAPIPath]
    /// The parts that operations share.
    let components: OpenAPIComponents
    /// The name of the schema of each class, distinct from each other and from the shared schemas.
    private let identifiers: [TableKey: String]
    private let tables: [ByteText: Table]
    private let classes: [TableKey: Table]
    /// The keys of the classes that links of top-level classes lead to.
    private let linked: Set<TableKey>
    /// The keys of the embedded classes whose objects are created with others, and changed with others.
    private let inputs: (created: Set<TableKey>, patched: Set<TableKey>)

    /// Prepares the description of a realm.
    ///
    /// - Parameters:
    ///   - snapshot: The version whose classes are described.
    ///   - ints: The form of integers in the responses that are described.
    ///   - profile: The level of detail.
    ///   - limits: The limits of the server, which parameters and bodies state.
    ///   - defaults: The values that creates take for properties they leave out.
    ///   - shared: The paths in addition to those of classes.
    /// - Complexity: O(n) in the number of properties, unless many names are mapped to the same
    ///   identifier.
    init(
        realm: String, snapshot: Snapshot, ints: OpenAPIDocument.Integers, profile: OpenAPIDocument.Profile, limits: Limits,
        defaults: ClassDefaults, shared: [OpenAPIPath]
    ) {
        self.shared = profile == .full ? shared : []
        self.realm = realm
        self.ints = ints
        self.limits = limits
        self.profile = profile
        self.defaults = defaults
        self.snapshot = snapshot
        components = OpenAPIComponents(ints, limits, examples: OpenAPIComponents.examples(of: snapshot))
        let identifiers = OpenAPIRealm.identifiers(of: snapshot)
        self.identifiers = identifiers
        tables = Dictionary(texts: snapshot.classes.map { (identifiers[$0.key] ?? "", $0) }) { first, _ in first }
        let classes = Dictionary(snapshot.classes.map { ($0.key, $0) }) { first, _ in first }
        self.classes = classes
        inputs = OpenAPIRealm.inputs(of: snapshot, classes)
        linked = Set(
            snapshot.classes.lazy.filter { $0.kind != .embedded }.flatMap { $0.columns.lazy.compactMap(\.targetTable) })
    }

    // MARK: - Document

    /// Returns the whole document as one value in memory.
    ///
    /// - Parameter version: The version of this program, shown as the version of the interface.
    /// - Returns: The same document that `write` writes. For large schemas `write` needs far less
    ///   memory.
    package func document(version: String) -> DocumentValue {
        let paths = snapshot.classes.flatMap(paths) + sharedPaths
        let own = snapshot.classes.flatMap(schemas)
        var used: Set<ByteText> = []
        for path in paths { OpenAPIComponents.collect(path.value, &used) }
        for (_, schema) in own { OpenAPIComponents.collect(schema, &used) }
        let shown = own.compactMap { name, schema in example(name, schema).map { (name, $0) } }
        let parts = components.members(usedBy: used, adding: own).map { kind, parts in
            (kind, kind == "examples" ? shown + parts : parts)
        }
        return .object(
            head(version) + [
                .init("paths", .object(paths)),
                .init("components", .object(parts.map { .init($0, .object($1.map { .init($0, $1) })) })),
            ])
    }

    /// Writes the document as JSON, class by class, so that no more than one class is in memory besides the text.
    ///
    /// - Parameters:
    ///   - version: The version of this program, shown as the version of the interface.
    ///   - buffer: The buffer that the text is appended to.
    ///   - budget: The work that the request may do; each class is charged by the number of its
    ///     properties.
    /// - Throws: `StorageError` when the budget is used up, or when the text is longer than a
    ///   response may be.
    package func write(version: String, to buffer: OutputBuffer, _ budget: WorkBudget) throws(StorageError) {
        var used: Set<ByteText> = []
        buffer.append("{" as StaticString)
        for member in head(version) {
            buffer.append(jsonString: member.name)
            buffer.append(UInt8(ascii: ":"))
            buffer.append(member.value.json)
            buffer.append(UInt8(ascii: ","))
        }
        buffer.append("\"paths\":{" as StaticString)
        var separator = ""
        for table in snapshot.classes {
            for member in paths(table) { OpenAPIRealm.append(member, &used, separator: &separator, to: buffer) }
            try spend(table, buffer, budget)
        }
        for member in sharedPaths { OpenAPIRealm.append(member, &used, separator: &separator, to: buffer) }
        buffer.append("},\"components\":{\"schemas\":{" as StaticString)
        let examples = try writeSchemas(&used, to: buffer, budget)
        for (kind, parts) in components.members(usedBy: used) {
            separator = kind == "schemas" && !snapshot.classes.isEmpty ? "," : ""
            if kind != "schemas" { buffer.append("},\"\(kind)\":{") }
            if kind == "examples" {
                buffer.append(examples.joined(separator: ","))
                separator = examples.isEmpty ? "" : ","
            }
            for (name, part) in parts { OpenAPIRealm.append(.init(name, part), &used, separator: &separator, to: buffer) }
            try budget.requireRoom(for: buffer.count)
        }
        buffer.append("}}}" as StaticString)
    }

    /// Writes the schemas of all classes.
    ///
    /// - Returns: The examples of bodies as members of an object.
    private func writeSchemas(
        _ used: inout Set<ByteText>, to buffer: OutputBuffer, _ budget: WorkBudget
    ) throws(StorageError) -> [String] {
        var separator = ""
        var examples: [String] = []
        for table in snapshot.classes {
            for (name, schema) in schemas(table) {
                OpenAPIRealm.append(.init(name, schema), &used, separator: &separator, to: buffer)
                if let example = example(name, schema) { examples.append("\"\(name)\":\(example.json)") }
            }
            try spend(table, buffer, budget)
        }
        return examples
    }

    /// Charges the budget with a class.
    private func spend(_ table: Table, _ buffer: OutputBuffer, _ budget: WorkBudget) throws(StorageError) {
        try budget.spend(table.columns.count * OpenAPIRealm.unitsPerColumn)
        try budget.requireRoom(for: buffer.count)
    }

    /// The units of work that one property is charged with: it becomes some dozens of small JSON values.
    private static let unitsPerColumn = 128

    /// Writes one member of an object, with a comma before all but the first.
    ///
    /// - Parameters:
    ///   - used: The references of the document, to which those of the member are added.
    ///   - separator: The text before the member; a comma afterwards.
    private static func append(
        _ member: DocumentValue.Member, _ used: inout Set<ByteText>, separator: inout String, to buffer: OutputBuffer
    ) {
        OpenAPIComponents.collect(member.value, &used)
        buffer.append(separator)
        separator = ","
        buffer.append(jsonString: member.name)
        buffer.append(UInt8(ascii: ":"))
        buffer.append(member.value.json)
    }

    /// The members of the document before the paths.
    private func head(_ version: String) -> [DocumentValue.Member] {
        let kinds = snapshot.classes.map { table in
            (identifier(table), "The objects of the class \(table.className ?? "").")
        }
        return [
            .init("openapi", "3.0.3"),
            .init(
                "info",
                OpenAPIDocument.info(
                    realm, version: version,
                    profile == .full
                        ? "Describes the classes of one realm, in plain JSON. With profile=simple the document has the common operations alone."
                        : "Describes the common operations on the classes of one realm, with the parameters that most requests need. A number that is NaN or infinite is a text, which a client of this document cannot read."
                )),
            .init("servers", OpenAPIDocument.servers), .init("security", OpenAPIAccess.security),
            .init("tags", OpenAPIDocument.tagList(sharedTags, classes: kinds)),
        ]
    }

    // MARK: - Names

    /// Chooses an identifier for each class.
    ///
    /// Where a name, or one of the names derived from it, is in use already, a number from 2 on is appended. Classes are named
    /// in the order of the schema, so the same schema always has the same identifiers.
    ///
    /// - Parameter snapshot: The version with the classes.
    /// - Returns: The identifiers by the key of the class's table.
    private static func identifiers(of snapshot: Snapshot) -> [TableKey: String] {
        // Generators make files and methods of names, so capitals do not distinguish two of them.
        var used = Set<ByteText>(texts: (OpenAPIComponents.names + OpenAPIRealm.reserved).map { $0.lowercased() })
        var identifiers: [TableKey: String] = [:]
        for table in snapshot.classes {
            let base = identifier(table.className ?? "")
            var candidate = base
            var suffix = 2
            let isUsed = { (name: String) in used.contains(name.lowercased()) }
            while isUsed(candidate) || OpenAPIRealm.derived.contains(where: { isUsed(candidate + $0) }) {
                candidate = "\(base)\(suffix)"
                suffix += 1
            }
            for suffix in OpenAPIRealm.derived + [""] { used.insert((candidate + suffix).lowercased()) }
            identifiers[table.key] = candidate
        }
        return identifiers
    }

    /// The suffixes that the name of a class has in the names of its other schemas.
    static let derived = ["Page", "Section", "Create", "Patch", "Link"] + OpenAPIChanges.suffixes + OpenAPIBatches.suffixes

    /// Names that would make an operation of a class have the id of another operation, or that of a group of operations.
    private static let reserved = [
        "Snapshots", "Property", "Write", "Subscriptions", "Schema", "Realm", "LinkingObjects", "objects", "schema", "transfer",
        "transactions", "snapshots", "changes", "realms", "operations", "access",
    ]

    /// Returns a name in which everything but ASCII letters and digits is replaced by an underscore.
    ///
    /// A result that would begin with a digit, or would be empty, begins with `C`.
    private static func identifier(_ name: String) -> String {
        let letters = name.unicodeScalars.map { scalar -> Character in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isPlain ? Character(scalar) : "_"
        }
        let text = String(letters)
        return text.first?.isNumber ?? true ? "C" + text : text
    }

    /// Returns the name of the schema of a class in the description, as `identifiers(of:)` has chosen it.
    func identifier(_ table: Table) -> String { identifiers[table.key] ?? "RealmObject" }

    /// Returns the class that a column links to; nil when the client may not see it.
    func target(of column: Column) -> Table? { column.targetTable.flatMap { classes[$0] } }

    /// Returns whether links of a top-level class lead to a class.
    func isLinked(_ table: Table) -> Bool { linked.contains(table.key) }

    /// Returns whether objects of a class are created by requests, directly or in others.
    func isCreated(_ table: Table) -> Bool { table.kind != .embedded || inputs.created.contains(table.key) }

    /// Returns whether objects of a class are changed by merge patches, directly or in others.
    func isPatched(_ table: Table) -> Bool { table.kind != .embedded || inputs.patched.contains(table.key) }

    /// Finds the embedded classes that bodies of writes lead to.
    private static func inputs(
        of snapshot: Snapshot, _ classes: [TableKey: Table]
    ) -> (created: Set<TableKey>, patched: Set<TableKey>) {
        var created: Set<TableKey> = []
        var patched: Set<TableKey> = []
        var waiting = snapshot.classes.filter { $0.kind != .embedded }.flatMap { [($0, false), ($0, true)] }
        while let (table, isPatch) = waiting.popLast() {
            for column in table.columns {
                guard let key = column.targetTable, let target = classes[key], target.kind == .embedded else { continue }
                let merges = isPatch && column.collection == nil
                let isNew = merges ? patched.insert(key).inserted : created.insert(key).inserted
                if isNew { waiting.append((target, merges)) }
            }
        }
        return (created, patched)
    }

    // MARK: - Examples

    /// Returns the example of a body; nil for schemas that are no bodies.
    private func example(_ name: String, _ schema: DocumentValue) -> DocumentValue? {
        let common = ["", "Page", "Create", "Patch"]
        let bodies = profile == .full ? common + ["Changes", "Batch", "BatchResult"] : common
        guard
            let table = bodies.lazy.compactMap({ suffix in
                name.hasSuffix(suffix) ? self.tables[String(name.dropLast(suffix.count))] : nil
            }).first, table.kind != .embedded || !name.hasSuffix("Create") && !name.hasSuffix("Patch")
        else { return nil }
        let value = OpenAPIExamples(lookup: schema(named:)).value(of: schema, named: name, depth: 0)
        return OpenAPIExamples.component(value, of: name)
    }

    /// Returns the schema of a name, of a class or a shared one; nil when there is none.
    func schema(named name: String) -> DocumentValue? {
        if let shared = components[name] { return shared }
        for suffix in [""] + OpenAPIRealm.derived where name.hasSuffix(suffix) {
            guard let table = tables[String(name.dropLast(suffix.count))] else { continue }
            return bareSchemas(table).first { $0.0 == name }?.1()
        }
        return nil
    }
}
