// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
package import RealmStorage

/// Reads inputs as values of a type: plain forms, and those that were given with their type.
///
/// Each type accepts:
///
/// - int, float, double: numbers, and texts of numbers that JSON cannot write.
/// - decimal128: integers and texts; a JSON number with a fraction has already lost digits.
/// - string: texts. date, objectId, uuid, data: texts in their usual form.
/// - mixed: any of these, with the type of the input.
package enum ValueReader {
    /// Reads an input as a value of a property, or of an element of a collection. Links and collections are not read here.
    ///
    /// - Parameters:
    ///   - type: The type that the property stores.
    ///   - isNullable: Whether null is accepted.
    /// - Returns: The value, with bytes of its own.
    /// - Throws: `WriteError`: `nullNotAllowed`, `typeMismatch`, `outOfRange` or `decimalNeedsString`,
    ///   without a path.
    package static func read(_ input: InputValue, as type: ColumnType, isNullable: Bool) throws(WriteError) -> OwnedValue {
        if case .null = input {
            guard isNullable else { throw WriteError(.nullNotAllowed, "null is not allowed here") }
            return OwnedValue(.null)
        }
        guard let value = try value(input, type) else { throw mismatch(input, type) }
        return value
    }

    /// Makes the error for an input that is not a value of a type. For a text in the wrong form it names the form wanted.
    static func mismatch(_ input: InputValue, _ type: ColumnType) -> WriteError {
        var detail = "\(input.kind) is not a value of type \(PropertyType(type).rawValue)"
        if case .text = input, let form = textForm(of: type) { detail += "; expected \(form)" }
        return WriteError(.typeMismatch, detail)
    }

    /// The texts that are values of a type, as error messages name them; nil for types without such texts.
    private static func textForm(of type: ColumnType) -> String? {
        switch type {
        case .binary: return #"base64 such as "AAEC""#
        case .timestamp: return #"a date such as "2024-05-17T09:30:00Z", or "2024-05-17" for midnight UTC"#
        case .objectID: return "24 hexadecimal digits"
        case .uuid: return #"a UUID such as "3b241101-e2bb-4255-8caf-4136c566a962""#
        case .int: return "a whole number such as 42"
        case .bool: return "true or false"
        case .float, .double, .decimal: return "a number such as 1.5"
        case .string, .mixed, .link, .backlink: return nil
        }
    }

    /// Returns the value; nil when the input is of another type, or a text that cannot be read as this type.
    private static func value(_ input: InputValue, _ type: ColumnType) throws(WriteError) -> OwnedValue? {
        switch type {
        case .int: return try integer(input).map { OwnedValue(.int($0)) }
        case .bool:
            guard case .bool(let flag) = input else { return nil }
            return OwnedValue(.bool(flag))
        case .string: return string(input)
        case .binary: return binary(input)
        case .timestamp: return timestamp(input).map { OwnedValue(.timestamp($0)) }
        case .float: return try float(input).map { OwnedValue(.float($0)) }
        case .double: return try double(input).map { OwnedValue(.double($0)) }
        case .decimal: return try decimal(input).map { OwnedValue(.decimal($0)) }
        case .objectID: return objectID(input).map { OwnedValue(.objectID($0)) }
        case .uuid: return uuid(input).map { OwnedValue(.uuid($0)) }
        case .mixed: return try mixed(input)
        case .link, .backlink: return nil
        }
    }

    // MARK: - Numbers

    /// Returns the integer that an input represents; nil for other inputs.
    ///
    /// A number with a point or an exponent is an integer if it has no fraction, as in JSON Schema: 1.0, 1e3. From 2^53 on its
    /// digits might have been rounded, so there it is none.
    ///
    /// - Throws: `WriteError` with the code `outOfRange` when 64 bits cannot hold it.
    static func integer(_ input: InputValue) throws(WriteError) -> Int64? {
        switch input {
        case .integer(let number), .typed(.int(let number)): return number
        case .real(let number):
            guard number.magnitude < 0x1p53 else {
                throw outOfRange("an integer from 2^53 on is written with all its digits, without a point or an exponent")
            }
            guard let whole = Int64(exactly: number) else {
                throw WriteError(.typeMismatch, "expected a whole number, got \(number), which has a fraction")
            }
            return whole
        case .wideInteger: throw outOfRange("the number is beyond 64 bits")
        case .text(let text): return try number(text, NumberText.integer)
        default: return nil
        }
    }

    /// Runs a parser of number texts, and converts its error to that of a write.
    private static func number<Number>(
        _ text: String, _ read: (String) throws(NumberText.OutOfRange) -> Number?
    ) throws(WriteError) -> Number? {
        do throws(NumberText.OutOfRange) { return try read(text) } catch { throw outOfRange(error.detail) }
    }

    /// Returns the number that an input represents as a double; nil for other inputs.
    private static func double(_ input: InputValue) throws(WriteError) -> Double? {
        switch input {
        case .integer(let number): return Double(number)
        case .real(let number), .typed(.double(let number)): return number
        case .typed(.float(let number)): return Double(number)
        case .wideInteger(let text):
            guard let number = Double(text), number.isFinite else { throw outOfRange("the number exceeds the range of a double") }
            return number
        case .wideReal: throw outOfRange("the number exceeds the range of a double")
        case .text(let text): return NumberText.double(text)
        default: return nil
        }
    }

    /// Returns the number that an input represents as a float; nil for other inputs. It is rounded, and
    /// throws `outOfRange` beyond the range.
    private static func float(_ input: InputValue) throws(WriteError) -> Float? {
        if case .typed(.float(let number)) = input { return number }
        // Rounding a text to a double first could give a neighbour.
        if case .text(let text) = input, let near = NumberText.double(text), near.isFinite, let number = Float(text),
            number.isFinite
        {
            return number
        }
        guard let number = try double(input) else { return nil }
        let narrow = Float(number)
        guard narrow.isFinite || !number.isFinite else { throw outOfRange("the number exceeds the range of a float") }
        return narrow
    }

    /// Returns the number that an input represents as a decimal. Fractions must be given as texts, so that no digit is lost.
    private static func decimal(_ input: InputValue) throws(WriteError) -> Decimal128? {
        switch input {
        case .typed(.decimal(let number)): return number
        case .integer(let number): return Decimal128(number)
        case .wideInteger(let text), .text(let text): return try number(text, NumberText.decimal)
        case .real, .wideReal:
            throw WriteError(.decimalNeedsString, "a decimal with fraction or exponent must be given as a text")
        default: return nil
        }
    }

    /// Makes the error for a value that its type cannot hold.
    private static func outOfRange(_ detail: String) -> WriteError { WriteError(.outOfRange, detail) }

    // MARK: - Texts

    /// Returns a text, or bytes that were given as a string.
    private static func string(_ input: InputValue) -> OwnedValue? {
        switch input {
        case .text(let text): return .string(text)
        case .typed(.stringBytes(let bytes)): return .string(bytes)
        default: return nil
        }
    }

    /// Returns bytes, or the bytes of a base64 text.
    private static func binary(_ input: InputValue) -> OwnedValue? {
        switch input {
        case .typed(.binary(let bytes)): return .binary(bytes)
        case .text(let text):
            let storage = ByteStorage(text)
            return withExtendedLifetime(storage) { Base64.decode(storage.view).map { .binary($0) } }
        default: return nil
        }
    }

    /// Returns a date, or the date of a text in the form of RFC 3339.
    private static func timestamp(_ input: InputValue) -> Timestamp? {
        switch input {
        case .typed(.timestamp(let date)): return date
        case .text(let text): return Timestamp(rfc3339: text)
        default: return nil
        }
    }

    /// Returns an object id, or the one that 24 hexadecimal digits describe.
    private static func objectID(_ input: InputValue) -> ObjectID? {
        switch input {
        case .typed(.objectID(let id)): return id
        case .text(let text): return ObjectID(text)
        default: return nil
        }
    }

    /// Returns a UUID, or the one that a text in canonical form describes.
    private static func uuid(_ input: InputValue) -> UUIDValue? {
        switch input {
        case .typed(.uuid(let id)): return id
        case .text(let text): return UUIDValue(text)
        default: return nil
        }
    }

    // MARK: - Mixed

    /// Returns an input as a value of its own type; nil for collections, links and null.
    private static func mixed(_ input: InputValue) throws(WriteError) -> OwnedValue? {
        switch input {
        case .bool(let flag): return OwnedValue(.bool(flag))
        case .integer(let number): return OwnedValue(.int(number))
        case .real(let number): return OwnedValue(.double(number))
        case .text(let text): return .string(text)
        case .typed(let typed): return held(typed)
        case .wideInteger: throw outOfRange("the number is beyond 64 bits; state its type, for example decimal128")
        case .wideReal: throw outOfRange("the number exceeds the range of a double")
        case .null, .link, .list, .object, .expression, .each: return nil
        }
    }

    /// Returns a value that was given with its type, with bytes of its own.
    private static func held(_ typed: TypedInput) -> OwnedValue {
        switch typed {
        case .int(let number): return OwnedValue(.int(number))
        case .float(let number): return OwnedValue(.float(number))
        case .double(let number): return OwnedValue(.double(number))
        case .decimal(let number): return OwnedValue(.decimal(number))
        case .timestamp(let date): return OwnedValue(.timestamp(date))
        case .objectID(let id): return OwnedValue(.objectID(id))
        case .uuid(let id): return OwnedValue(.uuid(id))
        case .binary(let bytes): return .binary(bytes)
        case .stringBytes(let bytes): return .string(bytes)
        }
    }
}
