// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

extension QueryArgument {
    /// Copies a value, so that it outlives its snapshot.
    ///
    /// Collections nested in mixed values all sort alike and become an empty list; their contents are not copied.
    ///
    /// - Parameter value: A value that borrows from a snapshot.
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

    /// Returns the argument as a value. Objects by primary key and shapes, which are not values, become null.
    ///
    /// - Parameter pool: Copies the bytes of a text or of binary data, and owns them.
    func value(in pool: ConstantPool) -> Value {
        switch self {
        case .null, .object, .shape: return .null
        case .int(let number): return .int(number)
        case .bool(let bool): return .bool(bool)
        case .float(let number): return .float(number)
        case .double(let number): return .double(number)
        case .string(let text), .text(let text): return .string(pool.keep(text.utf8))
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
