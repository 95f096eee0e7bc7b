// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// A function that maps a value to the key of its group or section, such as the year of a date.
///
/// Parts of dates are those in UTC.
package enum ValueFunction: Sendable, Hashable {
    /// The first character as it is, and in upper case.
    case first, firstLetter
    case year, month, day, hour
    /// The largest multiple of a positive number that is not greater than the value.
    case floor(Int64)
    /// The remainder of the division by a positive number; it is never negative.
    case mod(Int64)

    /// The names that texts of functions begin with.
    package static let names = ["first", "firstLetter", "year", "month", "day", "hour", "floor", "mod"]
    /// The texts of all functions, as messages list them.
    package static let list = "first, firstLetter, year, month, day, hour, floor(n), mod(n)"

    /// Reads a text such as `year` or `floor(10)`; nil for any other. The number must be greater than 0.
    package init?(_ text: Substring) {
        switch text {
        case "first": self = .first
        case "firstLetter": self = .firstLetter
        case "year": self = .year
        case "month": self = .month
        case "day": self = .day
        case "hour": self = .hour
        default:
            guard text.hasSuffix(")"), let open = text.firstIndex(of: "("),
                let number = Int64(text[text.index(after: open)..<text.index(before: text.endIndex)]), number > 0
            else { return nil }
            switch text[..<open] {
            case "floor": self = .floor(number)
            case "mod": self = .mod(number)
            default: return nil
            }
        }
    }

    /// Divides `path:function` into its parts at the last colon; nil for a text without a function.
    package static func split(_ text: String) -> (path: String, function: ValueFunction)? {
        guard let colon = text.lastIndex(of: ":"), let function = ValueFunction(text[text.index(after: colon)...]) else {
            return nil
        }
        return (String(text[..<colon]), function)
    }

    /// Returns the type of the results for values of a type; nil for a type that the function does not take.
    package func resultType(of type: ColumnType) -> ColumnType? {
        switch (self, type) {
        case (_, .mixed): return .mixed
        case (.first, .string), (.firstLetter, .string): return .string
        case (.year, .timestamp), (.month, .timestamp), (.day, .timestamp), (.hour, .timestamp): return .int
        case (.floor, .int), (.floor, .float), (.floor, .double), (.floor, .decimal): return type
        case (.mod, .int), (.mod, .float), (.mod, .double), (.mod, .decimal): return type
        default: return nil
        }
    }

    /// Returns the result for a value; nil for a value of a type that the function does not take, and null for null.
    ///
    /// - Parameter owners: Receives the bytes of texts that are not part of the value.
    package func result(of value: Value, keeping owners: inout [ByteStorage]) -> Value? {
        switch (self, value) {
        case (_, .null), (_, .link(.null, .null)): return .null
        case (.first, .string(let bytes)): return .string(ValueFunction.first(bytes))
        case (.firstLetter, .string(let bytes)): return .string(ValueFunction.capital(ValueFunction.first(bytes), &owners))
        case (.year, .timestamp(let date)): return .int(date.calendarDate.year)
        case (.month, .timestamp(let date)): return .int(Int64(date.calendarDate.month))
        case (.day, .timestamp(let date)): return .int(Int64(date.calendarDate.day))
        case (.hour, .timestamp(let date)): return .int(date.hour)
        case (.floor(let step), .int(let number)): return .int(ValueFunction.floor(number, step))
        case (.mod(let step), .int(let number)): return .int(ValueFunction.remainder(number, step))
        case (.floor(let step), .double(let number)):
            return .double((number / Double(step)).rounded(.down) * Double(step))
        case (.mod(let step), .double(let number)):
            return .double(number - (number / Double(step)).rounded(.down) * Double(step))
        case (.floor(let step), .float(let number)):
            return .float((number / Float(step)).rounded(.down) * Float(step))
        case (.mod(let step), .float(let number)):
            return .float(number - (number / Float(step)).rounded(.down) * Float(step))
        case (.floor(let step), .decimal(let number)): return .decimal(number.floor(toMultipleOf: step))
        case (.mod(let step), .decimal(let number)): return .decimal(number.remainder(dividingBy: step))
        default: return nil
        }
    }

    /// The result for an int of the class itself; nil for the functions of other types.
    func integer(of number: Int64) -> Int64? {
        switch self {
        case .floor(let step): return ValueFunction.floor(number, step)
        case .mod(let step): return ValueFunction.remainder(number, step)
        default: return nil
        }
    }

    // MARK: - Numbers

    /// Returns the remainder of a division that rounds down, which is from 0 to `step - 1`.
    private static func remainder(_ number: Int64, _ step: Int64) -> Int64 {
        let rest = number % step
        return rest < 0 ? rest + step : rest
    }

    /// Returns the multiple of `step` at or below a number.
    ///
    /// Below the smallest integer there is none; the lowest key is then the smallest integer.
    private static func floor(_ number: Int64, _ step: Int64) -> Int64 {
        let (bound, overflow) = number.subtractingReportingOverflow(remainder(number, step))
        return overflow ? .min : bound
    }

    // MARK: - Texts

    /// Returns the bytes of the first character of a text; all bytes of one that is not UTF-8 there.
    private static func first(_ bytes: ByteView) -> ByteView {
        let count = bytes.count
        guard count > 0 else { return bytes }
        // Two ASCII bytes are two characters, but for a line end of two.
        if bytes[0] < 0x80, count == 1 || bytes[1] < 0x80 && bytes[0] != 0x0D { return bytes.slice(0, 1) }
        var length = min(count, 64)
        while true {
            let text = String(decoding: bytes.slice(0, length).array, as: UTF8.self)
            guard let character = text.first else { return bytes }
            let end = character.utf8.count
            // A character that ends before the last eight bytes was not cut off with the text.
            if length == count || end + 8 <= length {
                return end <= length && bytes.slice(0, end).array.elementsEqual(character.utf8) ? bytes.slice(0, end) : bytes
            }
            length = min(count, length * 4)
        }
    }

    /// Returns a character in upper case, if that is one character, too: ß is unchanged.
    private static func capital(_ bytes: ByteView, _ owners: inout [ByteStorage]) -> ByteView {
        if bytes.count == 1, bytes[0] < 0x80 {
            let isSmall = bytes[0] >= 0x61 && bytes[0] <= 0x7A
            return isSmall ? capitals.view.slice(Int(bytes[0] - 0x61), Int(bytes[0] - 0x60)) : bytes
        }
        guard let letter = String(validating: bytes.array, as: UTF8.self)?.first else { return bytes }
        let capital = letter.uppercased()
        guard capital.count == 1, !capital.utf8.elementsEqual(bytes.array) else { return bytes }
        let storage = ByteStorage(Array(capital.utf8))
        owners.append(storage)
        return storage.view
    }

    /// The capital letters of ASCII, which live as long as the process.
    private static let capitals = ByteStorage("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

extension Timestamp {
    /// The hour of the day in UTC, from 0 to 23.
    fileprivate var hour: Int64 {
        let second = nanoseconds < 0 ? seconds.subtractingReportingOverflow(1).partialValue : seconds
        let rest = second % 86_400
        return (rest < 0 ? rest + 86_400 : rest) / 3_600
    }
}
