/// Operations that are written together, or not at all.
public struct Batch: Sendable {
    /// The operations as the server's interface has them; others can be appended.
    public var operations: [JSON] = []

    /// Creates an object. The answer stands for it in later operations: as a target, or with `link` as a value.
    @discardableResult
    public mutating func create<Value: RealmClass>(_ value: Value) throws -> Made {
        let made = Made(className: Value.className, name: "o\(operations.count)")
        append("create", ["as": .string(made.name), "class": .string(made.className), "body": try ValueEncoder.encode(value)])
        return made
    }

    public mutating func patch(_ target: some BatchTarget, _ values: [String: any Encodable & Sendable]) throws {
        append("patch", target.place, ["body": .object(try values.mapValues { try ValueEncoder.encode($0) })])
    }

    public mutating func delete(_ target: some BatchTarget) { append("delete", target.place) }

    public mutating func increment(_ target: some BatchTarget, _ property: String, by amount: any Encodable & Sendable) throws {
        append("increment", target.place, ["property": .string(property), "by": try ValueEncoder.encode(amount)])
    }

    /// The object exists and matches; else nothing is written.
    public mutating func check(_ target: some BatchTarget, _ condition: String, _ arguments: any Encodable & Sendable...) throws {
        let values = try arguments.map { try ValueEncoder.encode($0) }
        append("assert", target.place, ["where": .string(condition), "args": .array(values)])
    }

    /// Operations on the elements of a list: `["insert": [0, "x"]]`, `["move": [3, 1]]` …
    public mutating func list(_ target: some BatchTarget, _ property: String, _ changes: JSON...) {
        append("list", target.place, ["property": .string(property), "ops": .array(changes)])
    }

    private mutating func append(_ name: String, _ body: [String: JSON], _ more: [String: JSON] = [:]) {
        operations.append(.object([name: .object(body.merging(more) { _, new in new })]))
    }
}

/// What an operation of a batch is about.
public protocol BatchTarget: Sendable {
    var place: [String: JSON] { get }
}

extension Link: BatchTarget {
    public var place: [String: JSON] { ["class": .string(className), "key": .string(key)] }
}

extension Stored: BatchTarget {
    public var place: [String: JSON] { link.place }
}

/// An object that an earlier operation of the same batch creates.
public struct Made: BatchTarget, Encodable {
    let className: String
    let name: String

    public var place: [String: JSON] { ["class": .string(className), "key": .object(["ref": .string(name)])] }

    /// As a value: a link to it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(JSON.object(["$link": .object(["ref": .string(name)])]))
    }
}
