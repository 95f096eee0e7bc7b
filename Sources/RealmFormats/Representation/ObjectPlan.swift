// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
package import RealmQuery
package import RealmStorage

/// The plan for writing objects of a class, compiled once per request: the members with their escaped names, and the form of each
/// link in them.
///
/// An `ObjectPlanner` makes plans, and an `ObjectEncoder` or `CSVWriter` follows them for every
/// row. A plan never changes, so any thread may use it.
package final class ObjectPlan: Sendable {
    /// The form of the links of a member.
    package enum Links: Sendable {
        /// The member holds values other than links, so nothing is followed.
        case none
        /// Links are written as stubs with the class and key of their targets.
        case stubs
        /// The targets are of an embedded class: they are written as objects, never as stubs, and without `$meta`.
        case embedded
        /// Links are replaced by the objects that they point to, by a plan for these.
        case expanded(ObjectPlan)
    }

    /// The source of the value of a member: a column of the class, or the links of other objects.
    package enum Source: Sendable {
        /// A column with one value per object.
        case single(Column)
        /// A column with a list per object.
        case list(Column)
        /// A column with a set per object.
        case set(Column)
        /// A column with a dictionary per object.
        case dictionary(Column)
        /// The objects of `origin` that link here through `column`; the backlink column is in the class of the plan.
        case linkingObjects(origin: Table, column: Column, backlinks: Column)
        /// The distance of a location of the object from the place of the order, in metres.
        case distance(DistancePath)

        /// The column that the value is stored in; of linking objects their linking column, which belongs to another class.
        package var column: Column {
            switch self {
            case .single(let column), .list(let column), .set(let column), .dictionary(let column): return column
            case .linkingObjects(_, let column, _): return column
            case .distance(let path): return path.column
            }
        }
    }

    /// One member of the written object. It is a class because loops over rows pass it around.
    package final class Member: Sendable {
        /// The name of the member in the written object.
        package let name: String
        /// The name as JSON text, with quotation marks, escapes and the colon, ready to be copied into the output.
        let escapedKey: [UInt8]
        /// The column, or the links of other objects, that the value of the member comes from.
        package let source: Source
        /// The form of the links in the value of the member.
        let links: Links
        /// The plan for embedded objects in the value; nil where there are none, or for links that are not followed.
        package let embeddedPlan: ObjectPlan?

        /// Creates a member from its parts.
        ///
        /// - Parameters:
        ///   - name: The name in the written object.
        ///   - escapedKey: The name as JSON text with a colon.
        ///   - source: A column, or incoming links.
        ///   - links: The form of links in the value.
        ///   - embeddedPlan: The plan for embedded objects in the value; nil where there are
        ///     none.
        init(name: String, escapedKey: [UInt8], source: Source, links: Links, embeddedPlan: ObjectPlan?) {
            self.name = name
            self.escapedKey = escapedKey
            self.source = source
            self.links = links
            self.embeddedPlan = embeddedPlan
        }

        /// Whether links to other objects are followed here or inside the embedded object.
        var expands: Bool {
            if case .expanded = links { return true }
            return embeddedPlan?.expands ?? false
        }
    }

    /// The writing of one member, without anything that is reference-counted, because the loop over rows passes over many of
    /// these.
    struct Step: Sendable {
        /// The form of the value of a step. `text` is for values that may be long, strings and data, whose length is charged
        /// first.
        enum Kind: Sendable { case plain, text, link, mixed, collection }

        /// Returns how a single value of a column is written.
        ///
        /// - Parameter column: A column that is not a collection.
        static func kind(of column: Column) -> Kind {
            switch column.type {
            case .link: return .link
            case .mixed: return .mixed
            case .string, .binary: return .text
            default: return .plain
            }
        }

        /// The form of the value of this member.
        let kind: Kind
        /// The range of the member's name in `escapedKeys`, with a comma, quotation marks and colon.
        let key: Range<Int>
        /// The position of a single value in the columns of the class; 0 for collections.
        let position: Int
        /// The key of the column as a word, which an entity tag's digest includes before the value.
        let columnBits: UInt64
    }

    package let table: Table
    /// The members that are written of each object, in the order of the response.
    package let members: [Member]
    /// The steps for each member, in the order of `members`.
    let steps: [Step]
    /// The names of all members as JSON text with commas and colons, one after the other, and some bytes that are no name.
    let escapedKeys: [UInt8]
    /// The text that objects with metadata begin with, such as `{"$meta":{"class":"Dog","key":`.
    let metaPrefix: [UInt8]
    /// Whether the members are the stored properties of the class, all of them and in order. The
    /// digest can then be computed while they are written.
    let isWhole: Bool
    /// Whether the plan follows links to other objects, at any level. Only then the encoder has to watch for cycles.
    let expands: Bool

    /// Creates a plan and derives the steps from the members.
    ///
    /// - Parameters:
    ///   - members: The members to show, in order.
    ///   - isWhole: Whether these are all stored properties of the class.
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

    /// Returns one step for each member, with the escaped names that the steps refer to.
    private static func steps(_ members: [Member], _ table: Table) -> ([Step], keys: [UInt8]) {
        var keys: [UInt8] = []
        let positions = Dictionary(
            table.columns.enumerated().map { ($1.leafIndex, $0) }, uniquingKeysWith: { first, _ in first })
        let steps = members.map { member in
            let start = keys.count
            keys += [UInt8(ascii: ",")] + member.escapedKey
            let bits = UInt64(bitPattern: member.source.column.key.rawValue)
            guard case .single(let column) = member.source,
                let position = positions[column.leafIndex]
            else { return Step(kind: .collection, key: start..<keys.count, position: 0, columnBits: bits) }
            return Step(kind: Step.kind(of: column), key: start..<keys.count, position: position, columnBits: bits)
        }
        return (steps, keys + [UInt8](repeating: 0, count: JSONWriter.namePadding))
    }
}

extension ObjectPlan.Member {
    /// Creates the member for a stored property. A name that starts with `$` gets a second one in front.
    ///
    /// - Parameters:
    ///   - links: The form of its links.
    ///   - embeddedPlan: The plan for embedded objects in it; nil where there are none.
    convenience init(_ column: Column, links: ObjectPlan.Links, embeddedPlan: ObjectPlan?) {
        let name = MemberNaming.documents.member(column.name)
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

/// Defines the names of properties in JSON documents.
extension MemberNaming {
    /// The naming in JSON documents of this interface: `$$x` is the name of a property `$x`, and
    /// `$meta` holds facts about the object, which are ignored on input.
    package static let documents = MemberNaming(escape: UInt8(ascii: "$"), ignored: "$meta")
}
