// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmStorage

/// What of an object is written, compiled once per class and request: members with their names escaped, and how each
/// link in them is shown.
package final class ObjectPlan: Sendable {
    /// How the links of a member are shown.
    package enum Links: Sendable {
        /// Not a link.
        case none
        case stubs
        /// Objects of an embedded class: always whole, without `$meta`.
        case embedded
        /// Replaced by the objects they point to.
        case expanded(ObjectPlan)
    }

    /// Where the value of a member comes from.
    package enum Source: Sendable {
        case single(Column)
        case list(Column)
        case set(Column)
        case dictionary(Column)
        /// Objects of `origin` that link here through `column`; the backlink column is in this class.
        case linkingObjects(origin: Table, column: Column, backlinks: Column)

        /// The column that the value is stored in; of linking objects the one that links here.
        var column: Column {
            switch self {
            case .single(let column), .list(let column), .set(let column), .dictionary(let column): return column
            case .linkingObjects(_, let column, _): return column
            }
        }
    }

    /// One member. A class, because loops over rows pass it around.
    package final class Member: Sendable {
        /// As it is called in the representation.
        package let name: String
        /// `"name":`
        let escapedKey: [UInt8]
        package let source: Source
        let links: Links
        /// For embedded objects with chosen fields; nil for all of them.
        let embeddedPlan: ObjectPlan?

        init(name: String, escapedKey: [UInt8], source: Source, links: Links, embeddedPlan: ObjectPlan?) {
            self.name = name
            self.escapedKey = escapedKey
            self.source = source
            self.links = links
            self.embeddedPlan = embeddedPlan
        }

        /// Whether links are followed here or in the embedded object below.
        var expands: Bool {
            if case .expanded = links { return true }
            return embeddedPlan?.expands ?? false
        }
    }

    /// How one member is written, without anything that has to be counted: rows pass over many of these.
    struct Step: Sendable {
        /// `text` is for what may be long: strings and data.
        enum Kind: Sendable { case plain, text, link, mixed, collection }

        static func kind(of column: Column) -> Kind {
            switch column.type {
            case .link: return .link
            case .mixed: return .mixed
            case .string, .binary: return .text
            default: return .plain
            }
        }

        let kind: Kind
        /// Where `"name":` stands in `escapedKeys`.
        let key: Range<Int>
        /// The position of a single value in the columns of `table`.
        let position: Int
        /// What digests begin the column with.
        let columnBits: UInt64
    }

    /// The class of the objects.
    package let table: Table
    /// What is shown, in the order of the answer.
    package let members: [Member]
    /// One per member.
    let steps: [Step]
    /// `"name":` of all members.
    let escapedKeys: [UInt8]
    /// `{"$meta":{"class":"Dog","key":`
    let metaPrefix: [UInt8]
    /// The members are the stored properties of the class, all of them and in order.
    let isWhole: Bool
    /// Whether links are followed anywhere below.
    let expands: Bool

    init(table: Table, members: [Member], isWhole: Bool) {
        self.table = table
        self.members = members
        self.isWhole = isWhole
        expands = members.contains { $0.expands }
        (steps, escapedKeys) = ObjectPlan.steps(members, table)
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("$meta")
        writer.beginObject()
        writer.member("class", text: table.className ?? table.name)
        metaPrefix = writer.bytes + Array(",\"key\":".utf8)
    }

    private static func steps(_ members: [Member], _ table: Table) -> ([Step], keys: [UInt8]) {
        var keys: [UInt8] = []
        let positions = Dictionary(
            table.columns.enumerated().map { ($1.leafIndex, $0) }, uniquingKeysWith: { first, _ in first })
        let steps = members.map { member in
            let start = keys.count
            keys += member.escapedKey
            let bits = UInt64(bitPattern: member.source.column.key.rawValue)
            guard case .single(let column) = member.source,
                let position = positions[column.leafIndex]
            else { return Step(kind: .collection, key: start..<keys.count, position: 0, columnBits: bits) }
            return Step(kind: Step.kind(of: column), key: start..<keys.count, position: position, columnBits: bits)
        }
        return (steps, keys)
    }
}

extension ObjectPlan.Member {
    convenience init(_ column: Column, links: ObjectPlan.Links, embeddedPlan: ObjectPlan?) {
        // A stored name that starts with $ is written with a second one in front.
        let name = column.name.hasPrefix("$") ? "$" + column.name : column.name
        var writer = JSONWriter()
        writer.key(name)
        let source: ObjectPlan.Source
        switch column.collection {
        case nil: source = .single(column)
        case .list: source = .list(column)
        case .set: source = .set(column)
        case .dictionary: source = .dictionary(column)
        }
        self.init(name: name, escapedKey: writer.bytes, source: source, links: links, embeddedPlan: embeddedPlan)
    }
}
