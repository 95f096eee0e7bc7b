// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmQuery
internal import RealmStorage

/// What `sectionBy` says: a key path and perhaps a function.
package struct SectionGrouping: Sendable {
    /// What is made of the value at the end of the path.
    package enum Function: Sendable, Equatable {
        case value, first, firstLetter, year, month, day
        case floor(Int64)
        case mod(Int64)
    }

    /// The key path of the values.
    package let path: String
    /// What the key of a section is made by.
    package let function: Function

    /// Reads `path` or `path:function`.
    package init(_ text: String) throws(Problem) {
        guard let colon = text.lastIndex(of: ":") else {
            path = text
            function = .value
            if text.isEmpty { throw SectionGrouping.invalid("'sectionBy' is empty") }
            return
        }
        path = String(text[..<colon])
        let name = String(text[text.index(after: colon)...])
        guard !path.isEmpty, let function = SectionGrouping.function(name) else {
            throw SectionGrouping.invalid("'\(name)' is none of first, firstLetter, year, month, day, floor(n), mod(n)")
        }
        self.function = function
    }

    private static func function(_ name: String) -> Function? {
        switch name {
        case "first": return .first
        case "firstLetter": return .firstLetter
        case "year": return .year
        case "month": return .month
        case "day": return .day
        default: break
        }
        guard name.hasSuffix(")"), let open = name.firstIndex(of: "("),
            let number = Int64(name[name.index(after: open)..<name.index(before: name.endIndex)]), number > 0
        else { return nil }
        switch name[..<open] {
        case "floor": return .floor(number)
        case "mod": return .mod(number)
        default: return nil
        }
    }

    private static func invalid(_ detail: String) -> Problem { .invalidParameter("sectionBy", detail) }

    private static let links = invalid("objects are no keys of sections; name a property of theirs")

    /// Refuses a path that ends at a link, whether there are any.
    func requireValues(of table: Table, in snapshot: Snapshot) throws(Problem) {
        var table = table
        for name in path.split(separator: ".") {
            guard let column = table.column(named: String(name)), column.type == .link else { return }
            guard let target = column.targetTable.flatMap({ snapshot.table($0) }) else { return }
            table = target
        }
        throw SectionGrouping.links
    }

    /// The key of the section that a row with this value belongs to.
    package func key(_ cell: PagePosition.Cell) throws(Problem) -> SectionKey {
        let value: QueryArgument
        switch cell {
        case .missing: return emptyKey
        case .dictionary: throw SectionGrouping.invalid("collections are no keys of sections")
        case .value(.null): return emptyKey
        case .value(let known): value = known
        }
        switch (function, value) {
        case (_, .link), (_, .objectKey), (_, .object): throw SectionGrouping.links
        case (_, .list), (_, .shape): throw SectionGrouping.invalid("collections are no keys of sections")
        case (.value, _): return SectionKey(value)
        case (.first, .string(let text)): return SectionKey(.string(text.first.map(String.init) ?? ""))
        case (.firstLetter, .string(let text)): return SectionKey(.string(text.first.map { $0.uppercased() } ?? ""))
        case (.year, .timestamp(let date)): return SectionKey(.int(date.calendarDate.year))
        case (.month, .timestamp(let date)): return SectionKey(.int(Int64(date.calendarDate.month)))
        case (.day, .timestamp(let date)): return SectionKey(.int(Int64(date.calendarDate.day)))
        case (.floor(let step), .int(let number)): return SectionKey(.int(SectionGrouping.floor(number, step)))
        case (.mod(let step), .int(let number)): return SectionKey(.int(SectionGrouping.remainder(number, step)))
        case (.floor(let step), .double(let number)):
            return SectionKey(.double((number / Double(step)).rounded(.down) * Double(step)))
        case (.mod(let step), .double(let number)):
            return SectionKey(.double(number - (number / Double(step)).rounded(.down) * Double(step)))
        case (.floor(let step), .float(let number)):
            return SectionKey(.float((number / Float(step)).rounded(.down) * Float(step)))
        case (.mod(let step), .float(let number)):
            return SectionKey(.float(number - (number / Float(step)).rounded(.down) * Float(step)))
        // NaN and the infinities are sections of their own.
        case (.floor(let step), .decimal(let number)): return SectionKey(.decimal(number.floor(toMultipleOf: step)))
        case (.mod(let step), .decimal(let number)): return SectionKey(.decimal(number.remainder(dividingBy: step)))
        default:
            throw SectionGrouping.invalid("the function of 'sectionBy' does not take values of this type")
        }
    }

    /// The same for a result that is observed; throws `invalidSection` for a value that is no key.
    @Sendable func identity(_ cell: PagePosition.Cell) throws(ObservationError) -> SectionIdentity {
        do throws(Problem) { return try key(cell).identity } catch { throw .invalidSection(detail: error.detail) }
    }

    /// Null has a section of its own; for `firstLetter` it counts as the empty string.
    private var emptyKey: SectionKey { function == .firstLetter ? SectionKey(.string("")) : .null }

    /// The remainder of a division that rounds down: never negative. The result always fits.
    private static func remainder(_ number: Int64, _ step: Int64) -> Int64 {
        let rest = number % step
        return rest < 0 ? rest + step : rest
    }

    /// The lowest section saturates: its lower bound may not be an integer any more.
    private static func floor(_ number: Int64, _ step: Int64) -> Int64 {
        let (bound, overflow) = number.subtractingReportingOverflow(remainder(number, step))
        return overflow ? .min : bound
    }
}

extension QueryArgument {
    /// The value for writing; strings and binaries borrow from storage that is added to `owners`.
    func stored(_ owners: inout [ByteStorage]) -> Value {
        switch self {
        case .int(let number): return .int(number)
        case .bool(let flag): return .bool(flag)
        case .float(let number): return .float(number)
        case .double(let number): return .double(number)
        case .string(let text): return .string(QueryArgument.keep(Array(text.utf8), &owners))
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

    private static func keep(_ bytes: [UInt8], _ owners: inout [ByteStorage]) -> ByteView {
        let storage = ByteStorage(bytes)
        owners.append(storage)
        return storage.view
    }
}
