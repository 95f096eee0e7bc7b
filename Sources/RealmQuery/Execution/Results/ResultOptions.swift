// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// What a caller adds to the descriptors of a query: they apply after those in its text.
package struct ResultOrder: Sendable {
    package struct Key: Sendable {
        package let path: String
        package let isAscending: Bool

        package init(path: String, isAscending: Bool = true) {
            self.path = path
            self.isAscending = isAscending
        }
    }

    /// Sorted first.
    package var sort: [Key]
    /// Then only the first of each combination of these values is kept.
    package var distinct: [String]

    package init(sort: [Key] = [], distinct: [String] = []) {
        self.sort = sort
        self.distinct = distinct
    }

    package static let none = ResultOrder()
}

/// Which part of a result is wanted.
package struct ResultWindow: Sendable {
    package var offset: Int
    /// Nil for all.
    package var limit: Int?
    /// Only what comes behind this place in the order of the result.
    package var after: PagePosition?

    package init(offset: Int = 0, limit: Int? = nil, after: PagePosition? = nil) {
        self.offset = max(offset, 0)
        self.limit = limit
        self.after = after
    }

    package static let all = ResultWindow()

    /// How many results have to be known from the start.
    var end: Int { limit.map { offset.addingReportingOverflow(max($0, 0)).overflow ? .max : offset + max($0, 0) } ?? .max }
}

/// A place in the order of a result: what an object was sorted by, and its key. Outlives the snapshot it came from.
package struct PagePosition: Sendable {
    package enum Cell: Sendable {
        /// A link on the way to the value is null.
        case missing
        case value(QueryArgument)
        /// A dictionary nested in a mixed value: all of them sort alike, behind everything else.
        case dictionary
    }

    package let cells: [Cell]
    package let key: ObjectKey

    package init(cells: [Cell], key: ObjectKey) {
        self.cells = cells
        self.key = key
    }
}

extension QueryArgument {
    /// A copy of a value. Collections nested in mixed values all sort alike and become an empty list.
    package init(copying value: Value) {
        switch value {
        case .null: self = .null
        case .int(let number): self = .int(number)
        case .bool(let bool): self = .bool(bool)
        case .float(let number): self = .float(number)
        case .double(let number): self = .double(number)
        case .string(let bytes): self = bytes.validatedString.map { .string($0) } ?? .stringBytes(bytes.array)
        case .binary(let bytes): self = .binary(bytes.array)
        case .timestamp(let date): self = .timestamp(date)
        case .decimal(let number): self = .decimal(number)
        case .objectID(let id): self = .objectID(id)
        case .uuid(let id): self = .uuid(id)
        case .link(let table, let key): self = .link(table, key)
        case .list, .dictionary: self = .list([])
        }
    }

    /// The value again; its bytes live in `pool`.
    func value(in pool: ConstantPool) -> Value {
        switch self {
        case .null, .object, .shape: return .null
        case .int(let number): return .int(number)
        case .bool(let bool): return .bool(bool)
        case .float(let number): return .float(number)
        case .double(let number): return .double(number)
        case .string(let text): return .string(pool.keep(text.utf8))
        case .stringBytes(let bytes): return .string(pool.keep(bytes))
        case .binary(let bytes): return .binary(pool.keep(bytes))
        case .timestamp(let date): return .timestamp(date)
        case .decimal(let number): return .decimal(number)
        case .objectID(let id): return .objectID(id)
        case .uuid(let id): return .uuid(id)
        case .objectKey(let key): return .link(.null, key)
        case .link(let table, let key): return .link(table, key)
        case .list: return .list(.none)
        }
    }
}
