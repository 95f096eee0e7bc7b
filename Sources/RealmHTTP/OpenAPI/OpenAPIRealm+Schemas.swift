// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The schemas of the classes of a realm.
extension OpenAPIRealm {
    /// The purpose of a schema of a class.
    enum Form {
        /// Objects as they are read.
        case read
        /// Objects that a link was expanded to, or that are parts of others: links in them are expanded by dotted paths only.
        case inner
        /// New objects.
        case create
        /// Changes of objects.
        case patch
    }

    /// Returns the schemas of a class with their names: for reading an object and a page, and for classes of top-level objects
    /// also for links, changes, creating and patching.
    func schemas(_ table: Table) -> [(String, DocumentValue)] {
        let examples = OpenAPIExamples(lookup: schema(named:))
        return bareSchemas(table).map { name, make in
            let schema = make()
            return (name, examples.completed(schema, named: name))
        }
    }

    /// Returns the schemas of a class without examples. Each is made when it is asked for.
    func bareSchemas(_ table: Table) -> [(String, () -> DocumentValue)] {
        let name = identifier(table)
        let label = table.className ?? ""
        let isEmbedded = table.kind == .embedded
        let reference = OpenAPIParts.schema(name)
        var all: [(String, () -> DocumentValue)] = [
            (name, { object(table, isEmbedded ? .inner : .read) }), ("\(name)Page", { page(of: reference, label) }),
        ]
        if profile == .full {
            all.append(("\(name)Section", { OpenAPISchemas.section(of: reference) }))
            for suffix in OpenAPIChanges.suffixes {
                all.append(
                    (
                        name + suffix,
                        { OpenAPIChanges.changes(of: name, reference, ints).first { $0.0 == name + suffix }?.1 ?? .object([]) }
                    ))
            }
            if !isEmbedded { all += batches(name, reference) }
            if !isEmbedded, isLinked(table) { all.append(("\(name)Link", { link(to: table) })) }
        }
        if isCreated(table) { all.append(("\(name)Create", { input(table, .create) })) }
        if isPatched(table) { all.append(("\(name)Patch", { input(table, .patch) })) }
        return all
    }

    /// Returns the schemas of the batches of a class.
    private func batches(_ name: String, _ reference: DocumentValue) -> [(String, () -> DocumentValue)] {
        let parts = OpenAPIBatches.Parts(
            prefix: name, new: OpenAPIParts.schema("\(name)Create"), patch: OpenAPIParts.schema("\(name)Patch"),
            object: reference)
        return OpenAPIBatches.suffixes.map { suffix in
            (
                name + suffix,
                { OpenAPIBatches.schemas(of: parts, limits).first { $0.0 == name + suffix }?.1 ?? .object([]) }
            )
        }
    }

    // MARK: - Objects

    /// Returns the schema of a page of objects.
    private func page(of reference: DocumentValue, _ label: String) -> DocumentValue {
        guard profile == .simple else {
            let section = OpenAPIParts.schema((reference["$ref"]?.text?.split(separator: "/").last).map { "\($0)Section" } ?? "")
            let page = OpenAPISchemas.objectPage(of: reference, ints)
            return DocumentValue.object(
                page.members.map { member in
                    guard member.name == "properties" else { return member }
                    return .init(
                        "properties",
                        .object(
                            member.value.members.map {
                                $0.name == "sections" ? .init("sections", ["type": "array", "items": section]) : $0
                            }))
                }
            ).describing("Is one page of \(label), or another form of the result that a parameter asked for.")
        }
        return [
            "type": "object", "description": .string("Is one page of \(label)."), "required": ["items", "next", "version"],
            "properties": [
                "items": ["type": "array", "items": reference], "next": OpenAPIParts.nullableText, "version": OpenAPIParts.text,
                "count": ints.schema,
            ],
        ]
    }

    /// Returns the schema of an object as reads show it.
    ///
    /// In the full description no property is required, because the parameter `fields` can leave any of them out.
    private func object(_ table: Table, _ form: Form) -> DocumentValue {
        let label = table.className ?? ""
        var properties: [DocumentValue.Member] = []
        if table.kind != .embedded { properties.append(.init("$meta", OpenAPIParts.schema("Meta"))) }
        for column in table.columns {
            properties.append(.init(MemberNaming.documents.member(column.name), property(column, form)))
        }
        let required = profile == .simple && !properties.isEmpty ? properties.map { DocumentValue.string($0.name) } : nil
        return .members(
            ("type", "object"), ("description", .string("Is an object of the class \(label).")),
            ("x-realm-name", identifier(table) == label ? nil : .string(label)), ("required", required.map { .array($0) }),
            ("properties", .object(properties)))
    }

    /// Returns the schema of a link to an object of a class: the link alone, or the object where the link is expanded.
    private func link(to table: Table) -> DocumentValue {
        let target: [DocumentValue.Member] = [
            .init("$link", OpenAPIParts.schema("LinkTarget")), .init("$meta", OpenAPIParts.schema("Meta")),
        ]
        let properties = table.columns.map { column in
            DocumentValue.Member(MemberNaming.documents.member(column.name), property(column, .inner))
        }
        return [
            "type": "object",
            "description": .string(
                "Is a link to an object of the class \(table.className ?? ""), which has $link alone, or where it was expanded the object."
            ),
            "properties": .object(target + properties),
            "example": ["$link": ["class": .string(table.className ?? ""), "key": "1"]],
        ]
    }

    /// Returns the schema of an object in a request.
    ///
    /// Required for a new object are single-valued properties that cannot be null, except those with a
    /// default and a primary key that the server can generate (objectId or uuid). A nullable primary key is required too:
    /// null has to be given explicitly. A patch cannot change the primary key.
    private func input(_ table: Table, _ form: Form) -> DocumentValue {
        let label = table.className ?? ""
        let required = table.columns.filter { isRequired($0, in: table) }.map { MemberNaming.documents.member($0.name) }
        let columns = form == .create ? table.columns : table.columns.filter { $0.leafIndex != table.primaryKey?.leafIndex }
        let properties = columns.map { column in
            let name = MemberNaming.documents.member(column.name)
            guard form == .create, let text = defaults.text(of: column.name, in: label) else {
                return DocumentValue.Member(name, property(column, form))
            }
            return DocumentValue.Member(name, property(column, form).adding([.init("default", .json(text))]))
        }
        let isComplete = form == .create && !required.isEmpty
        return .members(
            ("type", "object"),
            (
                "description",
                .string(
                    form == .create
                        ? "Is a new object of the class \(label)." : "Is a merge patch of an object of the class \(label).")
            ), ("required", isComplete ? .array(required.map { .string($0) }) : nil), ("properties", .object(properties)),
            ("additionalProperties", false))
    }

    /// Returns whether a new object needs a value for a property.
    private func isRequired(_ column: Column, in table: Table) -> Bool {
        let isKey = column.leafIndex == table.primaryKey?.leafIndex
        let isMadeUp = isKey && [.objectID, .uuid].contains(column.type)
        return column.collection == nil && (!column.isNullable || isKey && column.isNullable) && !isMadeUp
            && defaults.text(of: column.name, in: table.className ?? "") == nil
    }

    // MARK: - Properties

    /// Returns the schema of a property: that of its element, or an array or object of them for a collection.
    private func property(_ column: Column, _ form: Form) -> DocumentValue {
        let element = element(column, form)
        switch column.collection {
        case nil: return element
        case .dictionary: return ["type": "object", "additionalProperties": element]
        case .list: return ["type": "array", "items": element]
        case .set: return ["type": "array", "uniqueItems": true, "items": element]
        }
    }

    /// Returns the schema of a single value or of one element of a collection, nullable where the property is.
    ///
    /// Mixed needs no mark: its schema is empty and permits null anyway.
    private func element(_ column: Column, _ form: Form) -> DocumentValue {
        let base = column.type == .link ? link(column, form) : scalar(column.type)
        return column.isNullable && base["type"] != nil || column.isNullable && base["$ref"] != nil ? base.orNull : base
    }

    /// Returns the schema of a link, or of an embedded object in its place.
    private func link(_ column: Column, _ form: Form) -> DocumentValue {
        let isInput = form == .create || form == .patch
        guard let target = target(of: column) else { return OpenAPIParts.schema(isInput ? "Link" : "HiddenLink") }
        let name = identifier(target)
        guard target.kind == .embedded else {
            if isInput || profile == .simple { return OpenAPIParts.schema("Link") }
            return OpenAPIParts.schema(form == .read ? "\(name)Link" : "ExpandedLink")
        }
        switch form {
        case .read, .inner: return OpenAPIParts.schema(name)
        case .create: return OpenAPIParts.schema("\(name)Create")
        // A patch merges a single embedded object, and replaces the elements of a collection.
        case .patch: return OpenAPIParts.schema(column.collection == nil ? "\(name)Patch" : "\(name)Create")
        }
    }

    /// Returns the schema of a value that is not null, for the JSON form with the chosen form of integers.
    ///
    /// Float and double are open in the full description, because NaN and the infinities are written as strings. Mixed is
    /// open by nature.
    private func scalar(_ type: ColumnType) -> DocumentValue {
        switch type {
        case .int: return ints.schema
        case .bool: return OpenAPIParts.flag
        case .string: return OpenAPIParts.text
        case .binary: return ["type": "string", "format": "byte"]
        case .timestamp: return ["type": "string", "format": "date-time"]
        case .float, .double: return number
        case .decimal:
            return [
                "type": "string", "description": "Is a decimal number as text.", "example": "12.50",
                "pattern": "^([+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,4})?|NaN|-?Infinity)$",
            ]
        case .objectID: return ["type": "string", "pattern": "^[0-9a-f]{24}$", "example": "64f804b45fd91a01ba29f3c5"]
        case .uuid: return ["type": "string", "format": "uuid"]
        case .link, .mixed, .backlink:
            return ["description": "Is a value of any type.", "example": "text"]
        }
    }

    /// The schema of a float or double.
    private var number: DocumentValue {
        guard profile == .full else { return ["type": "number", "format": "double"] }
        return [
            "description": "Is a number, or one of the texts NaN, Infinity and -Infinity.", "example": .json("0.5"),
        ]
    }
}
