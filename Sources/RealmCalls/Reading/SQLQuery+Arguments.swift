// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
package import RealmStorage

extension SQLQuery.Argument {
    /// Decodes the arguments of a statement of SQL, as values in the forms that the tables have.
    ///
    /// - Parameters:
    ///   - args: The arguments, in the forms that other queries take.
    ///   - snapshot: The version that is read.
    /// - Throws: `invalid_parameter` for one that SQL has no value for.
    package static func list(_ args: [JSONValue], in snapshot: Snapshot) throws(Problem) -> [SQLQuery.Argument] {
        var result: [SQLQuery.Argument] = []
        for (index, argument) in try ArgumentDecoder(snapshot).decode(args).enumerated() {
            switch argument {
            case .null: result.append(.null)
            case .int(let number): result.append(.int(number))
            case .bool(let flag): result.append(.int(flag ? 1 : 0))
            case .float(let number): result.append(.double(Double(number)))
            case .double(let number): result.append(.double(number))
            case .string(let text), .text(let text): result.append(.text(text))
            case .stringBytes(let bytes), .binary(let bytes): result.append(.bytes(bytes))
            case .timestamp(let date): result.append(.text(date.text))
            case .decimal(let number): result.append(.text(number.description))
            case .objectID(let id): result.append(.text(id.description))
            case .uuid(let id): result.append(.text(id.description))
            case .objectKey, .link, .object, .list, .shape:
                throw Problem.invalidParameter(
                    "args", "SQL has no such value; give the key of an object, and a parameter for each value of a list"
                ).with("pointer", "/args/\(index)")
            }
        }
        return result
    }
}
