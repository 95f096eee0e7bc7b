// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Translates comparisons of SQL into conditions of searches.
///
/// A condition admits at least the rows that the comparison admits: SQLite tests each found row once more. The forms of values in
/// the tables decide, so dates are compared as texts.
enum ColumnBound {
    /// The meaning of a comparison for the search.
    enum Meaning {
        case term(ColumnTerm)
        /// No row fulfils the comparison.
        case never
        /// The search cannot use the comparison.
        case unused
    }

    /// Returns whether searches can use a comparison of a column at all, whatever its value is.
    static func isUsable(_ comparison: VirtualRequest.Comparison, _ column: Column) -> Bool {
        guard column.collection == nil else { return false }
        switch (column.type, comparison) {
        case (.int, .equal), (.int, .less), (.int, .lessOrEqual), (.int, .greater), (.int, .greaterOrEqual): return true
        case (.double, .equal), (.double, .less), (.double, .lessOrEqual), (.double, .greater), (.double, .greaterOrEqual):
            return true
        case (.timestamp, .equal), (.timestamp, .less), (.timestamp, .lessOrEqual), (.timestamp, .greater),
            (.timestamp, .greaterOrEqual):
            return true
        case (.string, .equal), (.string, .like): return true
        case (.bool, .equal), (.binary, .equal), (.objectID, .equal), (.uuid, .equal): return true
        default: return false
        }
    }

    static func meaning(
        _ comparison: VirtualRequest.Comparison, _ column: Column, _ value: SQLiteStatement.Found
    ) -> Meaning {
        if case .null = value { return .never }
        switch column.type {
        case .int: return integer(comparison, column, value)
        case .double: return real(comparison, column, value)
        case .timestamp: return date(comparison, column, value)
        case .string: return text(comparison, column, value)
        case .bool:
            guard case .int(let number) = value else { return .unused }
            return number == 0 || number == 1 ? .term(.equal(column, .bool(number == 1))) : .never
        case .binary:
            guard case .blob(let bytes) = value else { return .never }
            return .term(.equal(column, .binary(bytes)))
        case .objectID: return identifier(value) { ObjectID($0).map { .equal(column, .objectID($0)) } }
        case .uuid: return identifier(value) { UUIDValue($0).map { .equal(column, .uuid($0)) } }
        default: return .unused
        }
    }

    private static func compare(
        _ comparison: VirtualRequest.Comparison, _ column: Column, _ value: QueryArgument
    ) -> Meaning {
        switch comparison {
        case .equal: return .term(.equal(column, value))
        case .less: return .term(.less(column, value))
        case .lessOrEqual: return .term(.lessOrEqual(column, value))
        case .greater: return .term(.greater(column, value))
        case .greaterOrEqual: return .term(.greaterOrEqual(column, value))
        default: return .unused
        }
    }

    private static func integer(
        _ comparison: VirtualRequest.Comparison, _ column: Column, _ value: SQLiteStatement.Found
    ) -> Meaning {
        guard case .int(let number) = value else { return .unused }
        return compare(comparison, column, .int(number))
    }

    /// A NaN is a text in the tables, which is greater than all numbers.
    private static func real(
        _ comparison: VirtualRequest.Comparison, _ column: Column, _ value: SQLiteStatement.Found
    ) -> Meaning {
        let number: Double
        switch value {
        case .double(let real): number = real
        case .int(let integer):
            guard let exact = Double(exactly: integer) else { return .unused }
            number = exact
        default: return .unused
        }
        switch comparison {
        case .greater: return .term(.not(.lessOrEqual(column, .double(number))))
        case .greaterOrEqual: return .term(.not(.less(column, .double(number))))
        default: return compare(comparison, column, .double(number))
        }
    }

    private static func text(
        _ comparison: VirtualRequest.Comparison, _ column: Column, _ value: SQLiteStatement.Found
    ) -> Meaning {
        switch (comparison, value) {
        case (.equal, .text(let bytes)), (.equal, .blob(let bytes)): return .term(.equal(column, .stringBytes(bytes)))
        case (.like, .text(let pattern)):
            let start = pattern.prefix { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "_") }
            guard !start.isEmpty, let prefix = String(validating: Array(start)) else { return .unused }
            return .term(.begins(column, .string(prefix)))
        default: return .unused
        }
    }

    private static func identifier(_ value: SQLiteStatement.Found, _ make: (String) -> ColumnTerm?) -> Meaning {
        // The digits of an identifier can be a number, which a column of numbers may be equal to.
        guard case .text(let bytes) = value else { return .unused }
        guard let text = String(validating: bytes), let term = make(text) else { return .never }
        return .term(term)
    }

    // MARK: - Dates

    /// The form of dates in the tables as far as the second, with the least and the greatest continuation of a beginning.
    private static let (form, least) = (Array("dddd-dd-ddTdd:dd:dd".utf8), Array("0001-01-01T00:00:00".utf8))
    private static let greatest = ["31", "30", "29", "28"].map { Array("9999-12-\($0)T23:59:59".utf8) }

    /// The text of a date sorts like its time as far as the second. Dates beyond the years of such texts sort behind all.
    private static func date(
        _ comparison: VirtualRequest.Comparison, _ column: Column, _ value: SQLiteStatement.Found
    ) -> Meaning {
        guard case .text(let bytes) = value else { return .unused }
        if comparison == .equal {
            guard bytes.first != UInt8(ascii: "{") else { return .unused }
            guard let text = String(validating: bytes), let date = Timestamp(rfc3339: text) else { return .never }
            return .term(.equal(column, .timestamp(date)))
        }
        let start = Array(zip(bytes, form).prefix { $1 == UInt8(ascii: "d") ? (0x30...0x39).contains($0) : $0 == $1 }.map(\.0))
        guard start.count >= 4 else { return .unused }
        if comparison == .less || comparison == .lessOrEqual {
            guard let second = ColumnBound.greatest.lazy.compactMap({ seconds(start, $0) }).first else { return .unused }
            return .term(.less(column, .timestamp(Timestamp(seconds: second + 1, nanoseconds: 0))))
        }
        guard let second = seconds(start, least), let first = DateWriter.writableSeconds.first else { return .unused }
        return .term(
            .not(
                .all([
                    .greaterOrEqual(column, .timestamp(Timestamp(seconds: first, nanoseconds: 0))),
                    .less(column, .timestamp(Timestamp(seconds: second, nanoseconds: 0))),
                ])))
    }

    /// Returns the second of a date that begins with some bytes and continues with those of another one; nil when there is none.
    private static func seconds(_ start: [UInt8], _ rest: [UInt8]) -> Int64? {
        String(validating: start + rest.dropFirst(start.count)).flatMap { Timestamp(rfc3339: $0 + "Z") }?.seconds
    }
}
