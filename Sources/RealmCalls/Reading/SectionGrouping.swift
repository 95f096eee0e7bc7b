// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
package import RealmPlatform
package import RealmQuery
package import RealmStorage

/// How `sectionBy` groups a result: by the value of a key path, or by a function of it.
///
/// Rows with equal keys form a section. The result is sorted by the same key path. A function such
/// as `:mod` need not keep that order, so `SectionedList` gathers the rows of each section.
package struct SectionGrouping: Sendable {
    /// The key path from a row to the value that decides its section.
    package let path: String
    /// The function that maps each value to the key of its section; nil for the value itself.
    package let function: ValueFunction?
    /// Whether the key path leads to mixed values, so that keys are written with the wrappers of their types.
    package var isMixed = false

    /// Reads `path` or `path:function`.
    ///
    /// - Throws: `invalid_parameter` for an empty path, an unknown function or a distance, which only orders.
    package init(_ text: String) throws(Problem) {
        guard !text.hasPrefix(DistanceTerm.word) else {
            throw SectionGrouping.invalid("distances cannot be keys of sections; name a property")
        }
        guard let colon = text.lastIndex(of: ":") else {
            if text.hasSuffix(")") {
                throw SectionGrouping.invalid("the function follows the key path: path:year or path:floor(10), not year(path)")
            }
            path = text
            function = nil
            if text.isEmpty { throw SectionGrouping.invalid("'sectionBy' is empty") }
            return
        }
        path = String(text[..<colon])
        let name = String(text[text.index(after: colon)...])
        guard !path.isEmpty, let function = ValueFunction(name[...]) else {
            let hint = Suggestion.hint(for: String(name.prefix { $0 != "(" }), in: ValueFunction.names)
            throw SectionGrouping.invalid("'\(name.truncated)' is not one of \(ValueFunction.list)\(hint)")
        }
        self.function = function
    }

    /// Makes the problem of a `sectionBy` that cannot be used.
    private static func invalid(_ detail: String) -> Problem { .invalidParameter("sectionBy", detail) }

    /// The problem of a sort that does not begin with the section's key path.
    package static let wrongSort = Problem.conflict(
        "the sort must begin with the key path of the sections", parameter: "sectionBy")

    /// The problem of a key path that ends at a link.
    private static let links = invalid("objects cannot be keys of sections; name one of their properties")

    /// Throws `invalid_parameter` when the key path ends at a link, so that the response does not
    /// depend on whether there are rows.
    ///
    /// - Parameters:
    ///   - table: The class of the rows.
    ///   - snapshot: The version that is read.
    package func requireValues(of table: Table, in snapshot: Snapshot) throws(Problem) {
        var table = table
        let names = path.split(separator: ".")
        for (index, name) in names.enumerated() {
            guard let column = table.column(named: String(name)), column.type == .link else { return }
            guard let target = column.targetTable.flatMap({ snapshot.table($0) }) else {
                // An object that is not shown is no key either; no path leads on from there.
                if index == names.count - 1 { break }
                return
            }
            table = target
        }
        throw SectionGrouping.links
    }

    /// Returns the key of the section that a row belongs to.
    ///
    /// - Parameter cell: The row's value at the end of the key path; it is missing when a link on
    ///   the way is null.
    /// - Throws: `invalid_parameter` for a collection or an object, and for a value of a type that
    ///   the function does not take.
    package func key(_ cell: PagePosition.Cell) throws(Problem) -> SectionKey {
        let value: QueryArgument
        switch cell {
        case .missing: return .null
        case .dictionary: throw SectionGrouping.invalid("collections cannot be keys of sections")
        case .value(.null): return .null
        case .value(let known): value = known
        }
        switch value {
        case .link, .objectKey, .object: throw SectionGrouping.links
        case .list, .shape: throw SectionGrouping.invalid("collections cannot be keys of sections")
        default: break
        }
        guard let function else { return SectionKey(value, isMixed: isMixed) }
        var (owners, made) = ([ByteStorage](), [ByteStorage]())
        let stored = value.stored(&owners)
        let result = withExtendedLifetime(owners) {
            function.result(of: stored, keeping: &made).map { key in withExtendedLifetime(made) { QueryArgument(copying: key) } }
        }
        guard let result else { throw SectionGrouping.invalid("the function of 'sectionBy' does not take values of this type") }
        return SectionKey(result, isMixed: isMixed)
    }

    /// Returns the identity of a row's section for an observed result.
    ///
    /// - Throws: `invalidSection` where `key(_:)` throws, so that the subscription fails with the
    ///   same detail.
    @Sendable package func identity(_ cell: PagePosition.Cell) throws(ObservationError) -> SectionIdentity {
        do throws(Problem) { return try key(cell).identity } catch { throw .invalidSection(detail: error.detail) }
    }
}

/// Lends query arguments to the writer of stored values.
extension QueryArgument {
    /// Returns the value in the form that a `ValueWriter` takes.
    ///
    /// Strings and binaries borrow from storage that is added to `owners`, which must live until the value was written.
    package func stored(_ owners: inout [ByteStorage]) -> Value {
        switch self {
        case .int(let number): return .int(number)
        case .bool(let flag): return .bool(flag)
        case .float(let number): return .float(number)
        case .double(let number): return .double(number)
        case .string(let text), .text(let text): return .string(QueryArgument.keep(Array(text.utf8), &owners))
        case .stringBytes(let bytes): return .string(QueryArgument.keep(bytes, &owners))
        case .binary(let bytes): return .binary(QueryArgument.keep(bytes, &owners))
        case .timestamp(let date): return .timestamp(date)
        case .decimal(let number): return .decimal(number)
        case .objectID(let id): return .objectID(id)
        case .uuid(let id): return .uuid(id)
        case .link(let table, let key): return .link(table, key)
        case .null, .objectKey, .object, .list, .shape: return .null
        }
    }

    /// Copies bytes into storage that is added to `owners`, and returns a view of it.
    private static func keep(_ bytes: [UInt8], _ owners: inout [ByteStorage]) -> ByteView {
        let storage = ByteStorage(bytes)
        owners.append(storage)
        return storage.view
    }
}
