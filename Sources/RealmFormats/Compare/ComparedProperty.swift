// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// A property of a class in both versions, or in one of them, paired by its name.
struct ComparedProperty {
    /// The property in one version.
    struct Side {
        let column: Column
        /// Writes values for the output.
        let shown: ObjectPlan.Member
        /// Writes values in a form that is the same for equal ones.
        let compared: ObjectPlan.Member

        /// Pairs the members of the plans of a class.
        fileprivate init(_ plan: ComparedSide.Class, _ position: Int) {
            shown = plan.shown.members[position]
            compared = plan.compared.members[position]
            column = shown.source.column
        }
    }

    /// How values are compared before their texts are.
    enum Form {
        /// Single values of one type that refer to nothing.
        case scalar
        /// Collections of such values.
        case collection
        /// Everything else by texts alone: links, Mixed, values of two types.
        case text
    }

    /// The name in documents.
    let name: String
    /// The property in the earlier version; nil when it does not have it.
    let old: Side?
    /// The property in the later version; nil when it does not have it.
    let new: Side?
    let form: Form

    private init(_ old: Side?, _ new: Side?) {
        self.old = old
        self.new = new
        name = (new ?? old)?.shown.name ?? ""
        form = ComparedProperty.form(old?.column, new?.column)
    }

    private static func form(_ old: Column?, _ new: Column?) -> Form {
        guard let old, let new, old.type == new.type, old.collection == new.collection, old.type != .link, old.type != .mixed
        else { return .text }
        return old.collection == nil ? .scalar : .collection
    }

    /// Whether equal bytes of the columns of two leaves are equal values, if links with equal keys lead to the same objects.
    var hasSameLayout: Bool {
        guard let old = old?.column, let new = new?.column else { return false }
        // The numbers of enumerated strings say nothing without the strings.
        return old.type == new.type && old.collection == new.collection && old.isNullable == new.isNullable
            && old.dictionaryKeyType == new.dictionaryKeyType && old.enumeration == nil && new.enumeration == nil
    }

    /// Returns the properties of a class in the order of their names.
    static func all(_ old: ComparedSide.Class?, _ new: ComparedSide.Class?) -> [ComparedProperty] {
        func sides(_ plan: ComparedSide.Class?) -> [ByteText: Side] {
            guard let plan else { return [:] }
            return Dictionary(
                plan.shown.members.indices.map { (ByteText(plan.shown.members[$0].name), Side(plan, $0)) },
                uniquingKeysWith: { first, _ in first })
        }
        let (before, after) = (sides(old), sides(new))
        return Set(before.keys).union(after.keys).sorted { $0.text < $1.text }.map {
            ComparedProperty(before[$0], after[$0])
        }
    }
}

extension ComparedProperty.Side {
    /// Whether an object has the value that a new property gets: null, zero, false or empty. A property of one version alone
    /// does not count as a difference then.
    func isDefault(_ row: Row, in snapshot: Snapshot) throws(StorageError) -> Bool {
        switch column.collection {
        case .list, .set: return try row.list(column, in: snapshot).isEmpty
        case .dictionary: return try row.dictionary(column, in: snapshot).isEmpty
        case nil: break
        }
        let value = try row.value(column)
        if column.isNullable || column.type == .mixed || column.type == .link { return value.isNull }
        switch value {
        case .int(let number): return number == 0
        case .bool(let flag): return !flag
        case .float(let number): return number.bitPattern == 0
        case .double(let number): return number.bitPattern == 0
        case .string(let bytes), .binary(let bytes): return bytes.isEmpty
        case .timestamp(let time): return time == Timestamp(seconds: 0, nanoseconds: 0)
        case .decimal(let number): return number == .zero
        case .objectID(let id): return id == ObjectID(first: 0, last: 0)
        case .uuid(let id): return id == UUIDValue(first: 0, last: 0)
        case .null, .link, .list, .dictionary: return false
        }
    }
}
