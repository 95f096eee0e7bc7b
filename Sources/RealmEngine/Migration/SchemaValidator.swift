// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks schemas by the rules of the SDKs, and derives what follows from the given members.
///
/// It checks names, types, which types can be primary keys or have an index, that links lead to existing classes, and that
/// embedded classes do not contain each other without end. Errors have the code `invalidSchema` and the path of the part of the
/// schema that is wrong. Everything here is a pure function; the file is not consulted.
package enum SchemaValidator {
    /// The maximum length of a property name in bytes of UTF-8.
    static let maximumNameByteCount = 63
    /// The maximum length of a class name in bytes of UTF-8. It is shorter than that of a property
    /// because the table's name has a prefix.
    static let maximumClassNameByteCount = 63 - Table.classPrefix.utf8.count

    /// Checks a schema, and returns its classes with all derived attributes.
    ///
    /// - Parameters:
    ///   - input: The schema as the client wrote it.
    ///   - known: Classes that already exist and that links may lead to. A class of `input` replaces one
    ///     with the same name.
    /// - Returns: One schema for each class of `input`, in the same order.
    /// - Throws: `WriteError` with the code `invalidSchema` and a path that starts with
    ///   `/classes/<index>`.
    package static func classes(
        _ input: SchemaInput, known: [ClassSchema] = []
    ) throws(WriteError) -> [ClassSchema] {
        var names = Set<ByteText>(texts: known.map(\.name))
        var classes: [ClassSchema] = []
        var own: Set<ByteText> = []
        for (index, one) in input.classes.enumerated() {
            try inClass(index, try checkName(one.name, maximumClassNameByteCount, "class"))
            guard own.insert(one.name).inserted else {
                throw invalid("two classes are named '\(one.name)'", [.name("classes"), .index(index), .name("name")])
            }
            names.insert(one.name)
            classes.append(try inClass(index, try validatedSchema(of: one)))
        }
        let kinds = Dictionary(
            texts: (known + classes).map { ($0.name, $0.kind) }, uniquingKeysWith: { _, new in new })
        for (index, one) in classes.enumerated() { try inClass(index, try checkTargets(of: one, kinds)) }
        let replaced = Set<ByteText>(texts: classes.map(\.name))
        try checkCycles(known.filter { !replaced.contains($0.name) } + classes) { name in
            classes.firstIndex { $0.name == name }
        }
        return classes
    }

    /// Checks one class. Paths of errors begin inside the class.
    ///
    /// - Parameters:
    ///   - known: The classes that its links may lead to, besides itself.
    /// - Throws: `WriteError` with the code `invalidSchema`.
    static func oneClass(_ input: ClassInput, known: [ClassSchema]) throws(WriteError) -> ClassSchema {
        do throws(WriteError) {
            return try classes(SchemaInput(classes: [input]), known: known)[0]
        } catch {
            var inner = error
            inner.path = InputPath(Array(error.path.steps.dropFirst(2)))
            throw inner
        }
    }

    /// Rejects new embedded classes that have an indexed property.
    ///
    /// - Parameter input: The schema with the new classes.
    /// - Throws: `WriteError` with the code `invalidSchema` and the path of the first such index.
    package static func requireNoEmbeddedIndex(_ input: SchemaInput) throws(WriteError) {
        for (index, one) in input.classes.enumerated() { try inClass(index, try requireNoEmbeddedIndex(one)) }
    }

    /// Runs a check of one class, and prefixes the paths of its errors with the path of the class.
    private static func inClass<Result>(
        _ index: Int, _ body: @autoclosure () throws(WriteError) -> Result
    ) throws(WriteError) -> Result {
        try at(.name("classes"), try at(.index(index), try body()))
    }

    /// Makes the error for an invalid part of a schema.
    ///
    /// - Parameters:
    ///   - detail: The reason, as a sentence for the client.
    ///   - path: The path from the part that is being checked to the wrong member.
    static func invalid(_ detail: String, _ path: [InputPath.Step] = []) -> WriteError {
        WriteError(.invalidSchema, detail, path: InputPath(path))
    }

    /// Checks that a name is not empty, not too long and without a zero byte.
    ///
    /// - Parameters:
    ///   - maximum: The maximum number of bytes in UTF-8.
    ///   - what: The kind of name in the message: `class` or `property`.
    /// - Throws: `WriteError` with the code `invalidSchema` and the path `name`.
    static func checkName(_ name: String, _ maximum: Int, _ what: String) throws(WriteError) {
        guard !name.isEmpty, name.utf8.count <= maximum else {
            throw invalid("the name of a \(what) must have 1 to \(maximum) bytes", [.name("name")])
        }
        guard !name.utf8.contains(0) else { throw invalid("the name of a \(what) contains a zero byte", [.name("name")]) }
    }

    // MARK: - One class

    /// Checks the properties and the primary key of one class, and returns it with derived attributes.
    /// The targets of links are checked later, when all classes are known.
    private static func validatedSchema(of input: ClassInput) throws(WriteError) -> ClassSchema {
        let kind = try kind(named: input.type)
        var properties: [PropertySchema] = []
        var names: Set<ByteText> = []
        for (index, one) in input.properties.enumerated() {
            let property = try at(.name("properties"), try at(.index(index), try validatedSchema(of: one)))
            guard names.insert(property.name).inserted else {
                throw invalid(
                    "two properties are named '\(one.name)'", [.name("properties"), .index(index), .name("name")])
            }
            properties.append(property)
        }
        if let key = input.primaryKey {
            try at(.name("primaryKey"), try checkPrimaryKey(key, &properties, kind))
        }
        return ClassSchema(name: input.name, kind: kind, primaryKey: input.primaryKey, properties: properties, backlinks: [])
    }

    /// The reason for rejecting an index in an embedded class, as a text for the client.
    static let embeddedIndex = "a property of an embedded class has no index"

    /// Rejects a new embedded class that has an indexed property.
    ///
    /// Only new classes are checked: files exist whose embedded classes have indexes, and they are accepted as they are.
    ///
    /// - Throws: `WriteError` with the code `invalidSchema` and the path of the first index.
    package static func requireNoEmbeddedIndex(_ input: ClassInput) throws(WriteError) {
        guard input.type == "embedded", let index = input.properties.firstIndex(where: { $0.indexed != nil }) else { return }
        throw invalid(embeddedIndex, [.name("properties"), .index(index), .name("indexed")])
    }

    /// Returns the kind of table that stores a class of the given type.
    ///
    /// - Parameter name: `object` or `embedded`; nil means `object`.
    /// - Throws: `WriteError` with the code `invalidSchema` for other names. Asymmetric classes exist
    ///   only in synchronized realms.
    static func kind(named name: String?) throws(WriteError) -> TableKind {
        switch name {
        case nil, "object": return .topLevel
        case "embedded": return .embedded
        case "asymmetric": throw invalid("asymmetric classes are for synchronized realms only", [.name("type")])
        case let name?: throw invalid("'\(name)' is not a type of class", [.name("type")])
        }
    }

    /// Checks that the named property can be the primary key, and gives it the general index that a primary key has.
    private static func checkPrimaryKey(
        _ name: String, _ properties: inout [PropertySchema], _ kind: TableKind
    ) throws(WriteError) {
        guard kind != .embedded else { throw invalid("an embedded class cannot have a primary key") }
        guard let index = properties.firstIndex(where: { $0.name == name }) else {
            throw invalid("the primary key '\(name)' is not a property")
        }
        try requireKeyType(properties[index])
        properties[index] = properties[index].indexed(.general)
    }

    /// Checks that a property has a type that can be a primary key: a single int, string, objectId or
    /// uuid without a full-text index.
    ///
    /// - Throws: `WriteError` with the code `invalidSchema` otherwise.
    static func requireKeyType(_ property: PropertySchema) throws(WriteError) {
        guard property.collection == nil, [.int, .string, .objectId, .uuid].contains(property.type) else {
            throw invalid("a primary key must be an int, string, objectId or uuid")
        }
        guard property.index != .fullText else { throw invalid("a primary key cannot have a full-text index") }
    }

    // MARK: - One property

    /// Checks one property, and returns it with all attributes that follow from its type.
    /// Whether the target class of a link exists is checked elsewhere.
    ///
    /// - Throws: `WriteError` with the code `invalidSchema` and the path of the wrong member.
    static func validatedSchema(of input: PropertyInput) throws(WriteError) -> PropertySchema {
        try checkName(input.name, maximumNameByteCount, "property")
        guard let type = PropertyType(rawValue: input.type) else {
            throw invalid("'\(input.type)' is not a type", [.name("type")])
        }
        let collection = try collection(named: input.collection)
        let isOptional = try optional(input, type, collection)
        let index = try index(named: input.indexed)
        if let index { try at(.name("indexed"), try requireIndexable(type, collection, index)) }
        guard (type == .object) == (input.objectType != nil) else {
            throw invalid(
                type == .object ? "a link must state the class it leads to" : "only links lead to a class", [.name("objectType")])
        }
        return PropertySchema(
            name: input.name, type: type, collection: collection, isOptional: isOptional, index: index,
            objectType: input.objectType)
    }

    /// Returns the kind of collection with the given name; nil for a single value.
    private static func collection(named name: String?) throws(WriteError) -> CollectionKind? {
        switch name {
        case nil: return nil
        case "list": return .list
        case "set": return .set
        case "dictionary": return .dictionary
        case let name?: throw invalid("'\(name)' is not a kind of collection", [.name("collection")])
        }
    }

    /// Returns the kind of index with the given name; nil for no index.
    ///
    /// - Parameter name: `general`, `fulltext` or nil.
    /// - Throws: `WriteError` with the code `invalidSchema` and the path `indexed` for other names.
    static func index(named name: String?) throws(WriteError) -> IndexKind? {
        switch name {
        case nil: return nil
        case "general": return .general
        case "fulltext": return .fullText
        case let name?: throw invalid("'\(name)' is not a kind of index", [.name("indexed")])
        }
    }

    /// Returns whether a property may be null.
    ///
    /// For some types there is no choice: mixed values and single links are always optional, and lists
    /// and sets of links never are. A contradicting `optional` is rejected.
    private static func optional(
        _ input: PropertyInput, _ type: PropertyType, _ collection: CollectionKind?
    ) throws(WriteError) -> Bool {
        let given: Bool
        switch (type, collection) {
        case (.mixed, _), (.object, nil), (.object, .dictionary): given = true
        case (.object, _): given = false
        default: return input.isOptional ?? false
        }
        guard input.isOptional == nil || input.isOptional == given else {
            throw invalid(
                given ? "mixed values and such links are always optional" : "lists and sets of links have no null",
                [.name("optional")])
        }
        return given
    }

    /// Checks that a property of this type may have this index.
    ///
    /// - Parameters:
    ///   - type: The type of the value or of the elements.
    ///   - collection: The kind of collection; nil for a single value.
    ///   - index: The kind of index that is wanted.
    /// - Throws: `WriteError` with the code `invalidSchema` otherwise.
    static func requireIndexable(
        _ type: PropertyType, _ collection: CollectionKind?, _ index: IndexKind
    ) throws(WriteError) {
        // Of collections only lists of strings have one: of their whole elements.
        guard collection == nil || collection == .list && type == .string && index == .general else {
            throw invalid("of collections, only a list of strings can have an index, and not for full text")
        }
        switch index {
        case .fullText:
            guard type == .string else { throw invalid("only strings can have a full-text index") }
        case .general:
            guard [.int, .bool, .string, .date, .objectId, .uuid, .mixed].contains(type) else {
                throw invalid("a property of type \(type.rawValue) cannot have an index")
            }
        }
    }

    // MARK: - Between classes

    /// Checks that all links of a class lead to existing classes, and that no set contains embedded objects.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of all known classes by their names.
    private static func checkTargets(of one: ClassSchema, _ kinds: [ByteText: TableKind]) throws(WriteError) {
        for (index, property) in one.properties.enumerated() {
            guard let target = property.objectType else { continue }
            let path: [InputPath.Step] = [.name("properties"), .index(index)]
            guard let kind = kinds[target] else {
                throw invalid("there is no class '\(target)'", path + [.name("objectType")])
            }
            guard kind != .embedded || property.collection != .set else {
                throw invalid("a set cannot hold embedded objects", path + [.name("collection")])
            }
        }
    }

    /// The maximum number of levels to which embedded objects may be nested.
    static let maximumEmbedding = 100

    /// A class on the current path of the depth-first search, with the state of the search in it.
    private struct Visit {
        /// The embedded class whose properties are being searched for more embedded classes.
        let one: ClassSchema
        /// The index of the property that the search continues with.
        var next = 0
        /// The number of nested levels from this class downward, as far as they are known.
        var height = 1
    }

    /// Checks that embedded classes do not contain each other without end, and are not nested too deeply.
    ///
    /// The schema decides how deep the search goes, so it keeps its path in an array and not on the call
    /// stack. Each class is searched once.
    ///
    /// - Parameters:
    ///   - classes: All classes, of which only the embedded ones matter.
    ///   - position: Returns the index of a class in the input, for the path of an error; nil for an
    ///     existing class.
    private static func checkCycles(_ classes: [ClassSchema], position: (String) -> Int?) throws(WriteError) {
        let embedded = Dictionary(
            texts: classes.filter { $0.kind == .embedded }.map { ($0.name, $0) }, uniquingKeysWith: { _, new in new })
        var heights: [ByteText: Int] = [:]
        for name in embedded.keys.sorted() where heights[name] == nil {
            guard let first = embedded[name] else { continue }
            var way = [Visit(one: first)]
            var open: Set<ByteText> = [name]
            while let last = way.indices.last {
                guard way[last].next < way[last].one.properties.count else {
                    let done = way.removeLast()
                    open.remove(done.one.name)
                    heights[done.one.name] = done.height
                    try requireHeight(done, position)
                    if let above = way.indices.last { way[above].height = max(way[above].height, done.height + 1) }
                    continue
                }
                let target = way[last].one.properties[way[last].next].objectType
                way[last].next += 1
                guard let inner = target.flatMap({ embedded[$0] }) else { continue }
                guard !open.contains(inner.name) else { throw cycle(way.map(\.one.name), inner.name, position) }
                if let height = heights[inner.name] {
                    way[last].height = max(way[last].height, height + 1)
                } else {
                    open.insert(inner.name)
                    way.append(Visit(one: inner))
                }
            }
        }
    }

    /// Returns the path of a class in the input; empty for a class that existed before.
    private static func place(_ name: String, _ position: (String) -> Int?) -> [InputPath.Step] {
        position(name).map { [.name("classes"), .index($0)] } ?? []
    }

    /// Makes the error for embedded classes that contain each other, with the cycle's names in its detail.
    private static func cycle(_ way: [String], _ again: String, _ position: (String) -> Int?) -> WriteError {
        let names = (way + [again]).suffix(20).joined(separator: " → ")
        return invalid("embedded classes contain each other: \(names)", place(way.last ?? again, position))
    }

    /// Throws when the nesting of embedded classes is deeper than `maximumEmbedding`.
    private static func requireHeight(_ visit: Visit, _ position: (String) -> Int?) throws(WriteError) {
        guard visit.height > maximumEmbedding else { return }
        throw invalid(
            "embedded classes are nested more than \(maximumEmbedding) levels deep in '\(visit.one.name)'",
            place(visit.one.name, position))
    }
}

extension PropertySchema {
    /// Returns the same property with another index, or without one for nil.
    func indexed(_ index: IndexKind?) -> PropertySchema {
        PropertySchema(
            name: name, type: type, collection: collection, isOptional: isOptional, index: index, objectType: objectType)
    }

    /// Returns the same property under another name.
    func named(_ name: String) -> PropertySchema {
        PropertySchema(
            name: name, type: type, collection: collection, isOptional: isOptional, index: index, objectType: objectType)
    }
}
