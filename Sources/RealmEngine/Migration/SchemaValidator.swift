// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Checks schemas by the rules of the SDKs, and fills in what follows from the rest.
///
/// Checked are names, types, which types can be keys or have an index, that links lead to classes that are there, and that
/// embedded classes do not hold each other without end. Errors have the path of the part of the schema that is wrong.
package enum SchemaValidator {
    /// Longest names in bytes: those of tables have a prefix.
    static let maximumNameByteCount = 63
    /// The same for classes, whose tables have a prefix.
    static let maximumClassNameByteCount = 63 - Table.classPrefix.utf8.count

    /// The classes that `input` describes. `known` are classes that links may lead to besides.
    package static func classes(
        _ input: SchemaInput, known: [ClassSchema] = []
    ) throws(WriteError) -> [ClassSchema] {
        var names = Set(known.map(\.name))
        var classes: [ClassSchema] = []
        var own: Set<String> = []
        for (index, one) in input.classes.enumerated() {
            try inClass(index, try checkName(one.name, maximumClassNameByteCount, "class"))
            guard own.insert(one.name).inserted else {
                throw invalid("two classes are named '\(one.name)'", [.name("classes"), .index(index), .name("name")])
            }
            names.insert(one.name)
            classes.append(try inClass(index, try shape(of: one)))
        }
        let kinds = Dictionary(
            (known + classes).map { ($0.name, $0.kind) }, uniquingKeysWith: { _, new in new })
        for (index, one) in classes.enumerated() { try inClass(index, try checkTargets(of: one, kinds)) }
        let replaced = Set(classes.map(\.name))
        try checkCycles(known.filter { !replaced.contains($0.name) } + classes) { name in
            classes.firstIndex { $0.name == name }
        }
        return classes
    }

    /// One class; `path` errors are inside it.
    static func oneClass(_ input: ClassInput, known: [ClassSchema]) throws(WriteError) -> ClassSchema {
        do throws(WriteError) {
            return try classes(SchemaInput(classes: [input]), known: known)[0]
        } catch {
            var inner = error
            inner.path = InputPath(Array(error.path.steps.dropFirst(2)))
            throw inner
        }
    }

    /// Throws `invalidSchema` when a new embedded class has an index.
    package static func requireNoEmbeddedIndex(_ input: SchemaInput) throws(WriteError) {
        for (index, one) in input.classes.enumerated() { try inClass(index, try requireNoEmbeddedIndex(one)) }
    }

    /// Runs a check of one class; its errors get the path of the class.
    private static func inClass<Result>(
        _ index: Int, _ body: @autoclosure () throws(WriteError) -> Result
    ) throws(WriteError) -> Result {
        try at(.name("classes"), try at(.index(index), try body()))
    }

    /// A mistake at a place of the schema.
    static func invalid(_ detail: String, _ path: [InputPath.Step] = []) -> WriteError {
        WriteError(.invalidSchema, detail, path: InputPath(path))
    }

    /// Throws unless a name has 1 to `maximum` bytes and none of them is zero; `what` says whose name it is.
    static func checkName(_ name: String, _ maximum: Int, _ what: String) throws(WriteError) {
        guard !name.isEmpty, name.utf8.count <= maximum else {
            throw invalid("the name of a \(what) has 1 to \(maximum) bytes", [.name("name")])
        }
        guard !name.utf8.contains(0) else { throw invalid("the name of a \(what) has no zero byte", [.name("name")]) }
    }

    // MARK: - One class

    /// A class with all that follows from what was said; properties are checked one by one.
    private static func shape(of input: ClassInput) throws(WriteError) -> ClassSchema {
        let kind = try kind(named: input.type)
        var properties: [PropertySchema] = []
        var names: Set<String> = []
        for (index, one) in input.properties.enumerated() {
            let property = try at(.name("properties"), try at(.index(index), try shape(of: one)))
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

    /// Why an index is refused in an embedded class.
    static let embeddedIndex = "a property of an embedded class has no index"

    /// For what is new: there are files whose embedded classes have indexes, and they are taken as they are.
    package static func requireNoEmbeddedIndex(_ input: ClassInput) throws(WriteError) {
        guard input.type == "embedded", let index = input.properties.firstIndex(where: { $0.indexed != nil }) else { return }
        throw invalid(embeddedIndex, [.name("properties"), .index(index), .name("indexed")])
    }

    /// The kind of table that a type of class is stored as; nil means a class of objects.
    static func kind(named name: String?) throws(WriteError) -> TableKind {
        switch name {
        case nil, "object": return .topLevel
        case "embedded": return .embedded
        case "asymmetric": throw invalid("asymmetric classes are for synchronised realms only", [.name("type")])
        case let name?: throw invalid("'\(name)' is no type of class", [.name("type")])
        }
    }

    /// Throws unless the property can be the primary key, and gives it the index that goes with that.
    private static func checkPrimaryKey(
        _ name: String, _ properties: inout [PropertySchema], _ kind: TableKind
    ) throws(WriteError) {
        guard kind != .embedded else { throw invalid("an embedded class has no primary key") }
        guard let index = properties.firstIndex(where: { $0.name == name }) else {
            throw invalid("the primary key '\(name)' is no property")
        }
        try requireKeyType(properties[index])
        properties[index] = properties[index].indexed(.general)
    }

    /// Whether a property can be a primary key.
    static func requireKeyType(_ property: PropertySchema) throws(WriteError) {
        guard property.collection == nil, [.int, .string, .objectId, .uuid].contains(property.type) else {
            throw invalid("a primary key is an int, string, objectId or uuid")
        }
        guard property.index != .fullText else { throw invalid("a primary key has no full-text index") }
    }

    // MARK: - One property

    /// A property with all that follows from what was said. Whether its target exists is checked elsewhere.
    static func shape(of input: PropertyInput) throws(WriteError) -> PropertySchema {
        try checkName(input.name, maximumNameByteCount, "property")
        guard let type = PropertyType(rawValue: input.type) else {
            throw invalid("'\(input.type)' is no type", [.name("type")])
        }
        let collection = try collection(named: input.collection)
        let isOptional = try optional(input, type, collection)
        let index = try index(named: input.indexed)
        if let index { try at(.name("indexed"), try requireIndexable(type, collection, index)) }
        guard (type == .object) == (input.objectType != nil) else {
            throw invalid(
                type == .object ? "a link says to which class it leads" : "only links lead to a class", [.name("objectType")])
        }
        return PropertySchema(
            name: input.name, type: type, collection: collection, isOptional: isOptional, index: index,
            objectType: input.objectType)
    }

    /// The kind of collection that a name says; nil for none.
    private static func collection(named name: String?) throws(WriteError) -> CollectionKind? {
        switch name {
        case nil: return nil
        case "list": return .list
        case "set": return .set
        case "dictionary": return .dictionary
        case let name?: throw invalid("'\(name)' is no kind of collection", [.name("collection")])
        }
    }

    /// The kind of index that a name says; nil for none.
    static func index(named name: String?) throws(WriteError) -> IndexKind? {
        switch name {
        case nil: return nil
        case "general": return .general
        case "fulltext": return .fullText
        case let name?: throw invalid("'\(name)' is no kind of index", [.name("indexed")])
        }
    }

    /// What the type leaves no choice about has to be said right, if it is said.
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

    /// Throws unless properties of such a type may have such an index.
    static func requireIndexable(
        _ type: PropertyType, _ collection: CollectionKind?, _ index: IndexKind
    ) throws(WriteError) {
        // Of collections only lists of strings have one: of their whole elements.
        guard collection == nil || collection == .list && type == .string && index == .general else {
            throw invalid("such collections have no index")
        }
        switch index {
        case .fullText:
            guard type == .string else { throw invalid("only strings have a full-text index") }
        case .general:
            guard [.int, .bool, .string, .date, .objectId, .uuid, .mixed].contains(type) else {
                throw invalid("a property of type \(type.rawValue) has no index")
            }
        }
    }

    // MARK: - Between classes

    /// Throws unless all links lead to classes that are there.
    private static func checkTargets(of one: ClassSchema, _ kinds: [String: TableKind]) throws(WriteError) {
        for (index, property) in one.properties.enumerated() {
            guard let target = property.objectType else { continue }
            let path: [InputPath.Step] = [.name("properties"), .index(index)]
            guard let kind = kinds[target] else {
                throw invalid("there is no class '\(target)'", path + [.name("objectType")])
            }
            guard kind != .embedded || property.collection != .set else {
                throw invalid("there are no sets of embedded objects", path + [.name("collection")])
            }
        }
    }

    /// Embedded objects lie in each other so many levels deep.
    static let maximumEmbedding = 100

    /// A class on the search path, and how far the search in it has come.
    private struct Visit {
        /// The class.
        let one: ClassSchema
        /// The property that is looked at next.
        var next = 0
        /// Levels below it, as far as they are known.
        var height = 1
    }

    /// Embedded objects that hold each other would have no end. A schema decides how deep the search goes, so it keeps its way
    /// in a list and not on the stack.
    private static func checkCycles(_ classes: [ClassSchema], position: (String) -> Int?) throws(WriteError) {
        let embedded = Dictionary(
            classes.filter { $0.kind == .embedded }.map { ($0.name, $0) }, uniquingKeysWith: { _, new in new })
        var heights: [String: Int] = [:]
        for name in embedded.keys.sorted() where heights[name] == nil {
            guard let first = embedded[name] else { continue }
            var way = [Visit(one: first)]
            var open: Set<String> = [name]
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

    /// The path of a class in the input; empty for a class that was there before.
    private static func place(_ name: String, _ position: (String) -> Int?) -> [InputPath.Step] {
        position(name).map { [.name("classes"), .index($0)] } ?? []
    }

    /// The error of embedded classes that hold each other.
    private static func cycle(_ way: [String], _ again: String, _ position: (String) -> Int?) -> WriteError {
        let names = (way + [again]).suffix(20).joined(separator: " → ")
        return invalid("embedded classes hold each other: \(names)", place(way.last ?? again, position))
    }

    /// Throws when embedded objects would lie too deep in each other.
    private static func requireHeight(_ visit: Visit, _ position: (String) -> Int?) throws(WriteError) {
        guard visit.height > maximumEmbedding else { return }
        throw invalid(
            "embedded classes lie more than \(maximumEmbedding) levels deep in '\(visit.one.name)'",
            place(visit.one.name, position))
    }
}

extension PropertySchema {
    /// The same property with another index.
    func indexed(_ index: IndexKind?) -> PropertySchema {
        PropertySchema(
            name: name, type: type, collection: collection, isOptional: isOptional, index: index, objectType: objectType)
    }

    /// The same property under another name.
    func named(_ name: String) -> PropertySchema {
        PropertySchema(
            name: name, type: type, collection: collection, isOptional: isOptional, index: index, objectType: objectType)
    }
}
