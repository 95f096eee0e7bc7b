// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension Binder {
    /// Returns the value that was passed for `$n`.
    ///
    /// - Parameters:
    ///   - number: The number of the argument, from 0.
    ///   - range: The bytes of the text that name it, for the position of the error.
    /// - Returns: The value, not converted.
    /// - Throws: `QueryError.invalid` when too few arguments were passed; the error is about that
    ///   argument.
    func argument(_ number: Int, _ range: Range<Int>) throws(QueryError) -> QueryArgument {
        guard number < arguments.count else {
            throw invalid(
                .argument,
                "argument \(number) is missing, \(arguments.count) were provided; 'args' takes an array with a value for each of $0, $1, …",
                range
            )
            .about(.argument(number))
        }
        return arguments[number]
    }

    /// Returns the operand for a literal or an argument.
    ///
    /// - Parameters:
    ///   - constant: The literal or the argument, which may hold a list.
    ///   - hint: The type of the other side, to which the constant is converted.
    ///   - reading: The type by which an argument is read.
    /// - Throws: `QueryError.invalid` when an argument is missing, cannot be compared with the
    ///   other side, or is too long.
    func operand(
        _ constant: ConstantSyntax, hint: OperandType, reading: OperandType
    ) throws(QueryError) -> ConstantOperand {
        let label = source(constant.range)
        guard case .argument(let number, let quantifier) = constant.kind else {
            let value = try convert(try value(of: constant), constant, numeric(hint, reading))
            return ConstantOperand(value, type: type(of: value, hint), label: label)
        }
        let range = argumentRange(constant)
        let argument = try argument(number, range)
        if case .list(let elements) = argument {
            guard pool.admits(values: elements.count) else {
                throw invalid(
                    .argument, "the lists of the query have more than \(ConstantPool.maximumValueCount) values together",
                    range)
            }
            var values: [Value] = []
            values.reserveCapacity(elements.count)
            for element in elements { values.append(try converted(element, constant, hint, reading: reading)) }
            // A value of another type equals nothing, as in a list literal. Texts alone, none of which fits, are a mistake.
            if demandsFit {
                for value in values { try require(value, fits: reading, constant) }
            } else if elements.allSatisfy(\.isText), let first = values.first, !values.contains(where: { fits($0, reading) }) {
                try require(first, fits: reading, constant)
            }
            return ConstantOperand(list: values, quantifier: quantifier, label: label)
        }
        if let quantifier {
            throw invalid(.argument, "\(quantifier.rawValue) needs a list, but '\(label)' is not one", range)
        }
        let value = try converted(argument, constant, hint, reading: reading)
        try require(value, fits: reading, constant)
        return ConstantOperand(value, type: type(of: value, hint), label: label)
    }

    /// Throws `QueryError.invalid` with the form that is wanted when the value of an argument can never be
    /// equal to values of a type.
    private func require(_ value: Value, fits wanted: OperandType, _ constant: ConstantSyntax) throws(QueryError) {
        guard fits(value, wanted) else {
            let range = argumentRange(constant)
            throw invalid(
                .argument,
                "cannot compare argument \(source(range)) of type '\(value.typeName)' to a \(wanted.rawValue), expected \(PlainText.form(of: wanted))",
                range)
        }
    }

    /// Returns whether a value may be equal to values of a type.
    private func fits(_ value: Value, _ wanted: OperandType) -> Bool {
        if value.isNull { return true }
        let type = type(of: value, wanted)
        return type.isComparable(with: wanted) || (type == .typedLink && wanted == .link)
    }

    /// The bytes of `$n`, by which errors name an argument, without a quantifier before it.
    private func argumentRange(_ constant: ConstantSyntax) -> Range<Int> {
        let start = text[constant.range].firstIndex(of: UInt8(ascii: "$")) ?? constant.range.lowerBound
        return start..<constant.range.upperBound
    }

    /// Returns the operand for a list literal, whose elements are converted one by one.
    ///
    /// - Parameters:
    ///   - list: The list. Its elements may be arguments, but not lists.
    ///   - hint: The type of the other side, to which the elements are converted.
    ///   - reading: The type by which arguments are read.
    /// - Throws: `QueryError.invalid` when an element is a list, or cannot be used as an element.
    func operand(_ list: ExpressionSyntax.List, hint: OperandType, reading: OperandType) throws(QueryError) -> ConstantOperand {
        var values: [Value] = []
        for element in list.elements {
            let operand = try operand(element, hint: hint, reading: reading)
            guard !operand.isList else {
                throw invalid(.argument, "a list cannot contain a list", element.range)
            }
            guard hint != .typeOfValue || operand.type == .typeOfValue else {
                throw invalid(.typeMismatch, "'\(operand.label)' is not the name of a type", element.range)
            }
            values.append(operand.values[0])
        }
        let type: OperandType = hint == .typeOfValue ? .typeOfValue : .mixed
        return ConstantOperand(list: values, type: type, quantifier: list.quantifier, label: source(list.range))
    }

    /// Returns the type of a converted constant.
    ///
    /// A null that is compared with a string or binary property has the type of that property, which string operators need.
    private func type(of value: Value, _ hint: OperandType) -> OperandType {
        if value.isNull { return hint == .string || hint == .binary ? hint : .null }
        if hint == .typeOfValue, case .int = value { return .typeOfValue }
        return OperandType(of: value)
    }

    // MARK: - Values

    /// Returns the value of a constant as it is written, before any conversion.
    ///
    /// - Throws: `QueryError.invalid` for an impossible date, a missing argument, or an unknown
    ///   class in `obj()`, and `.storage` when the look-up of `obj()` fails.
    func value(of constant: ConstantSyntax) throws(QueryError) -> Value {
        switch constant.kind {
        case .null: return .null
        case .bool(let bool): return .bool(bool)
        case .integer(let number): return .int(number)
        case .double(let number, _): return .double(number)
        case .float(let number): return .float(number)
        case .string(let bytes): return .string(pool.keep(bytes))
        case .binary(let bytes): return .binary(pool.keep(bytes))
        case .timestamp(let timestamp): return .timestamp(timestamp)
        case .impossibleTimestamp(let detail): throw invalid(.argument, detail, constant.range)
        case .uuid(let uuid): return .uuid(uuid)
        case .objectID(let id): return .objectID(id)
        case .link(let key): return .link(.null, key)
        case .typedLink(let table, let key): return .link(table, key)
        case .argument(let number, _):
            return try value(of: try argument(number, constant.range), constant.range)
        case .object(let className, let key):
            let (target, type) = try keyed(String(decoding: className, as: UTF8.self), constant.range)
            return try object(of: target, try primaryKey(key, type))
        }
    }

    /// Returns the value of an argument.
    ///
    /// - Parameters:
    ///   - argument: The argument, whose bytes the pool copies.
    ///   - range: The bytes of the text that name it, for the positions of errors.
    /// - Throws: `QueryError.invalid` for lists and shapes, which are not single values, and when
    ///   the constants of the query together exceed `ConstantPool.maximumByteCount`.
    private func value(of argument: QueryArgument, _ range: Range<Int>) throws(QueryError) -> Value {
        guard pool.admits(bytes: argument.byteCount) else {
            throw invalid(
                .argument, "the constants of the query take more than \(ConstantPool.maximumByteCount >> 20) MiB together", range)
        }
        switch argument {
        case .null: return .null
        case .int(let number): return .int(number)
        case .bool(let bool): return .bool(bool)
        case .float(let number): return .float(number)
        case .double(let number): return .double(number)
        case .string(let text), .text(let text): return .string(pool.keep(text.utf8))
        case .stringBytes(let bytes): return .string(pool.keep(bytes))
        case .binary(let bytes): return .binary(pool.keep(bytes))
        case .timestamp(let timestamp): return .timestamp(timestamp)
        case .decimal(let number): return number.isNull ? .null : .decimal(number)
        case .objectID(let id): return .objectID(id)
        case .uuid(let uuid): return .uuid(uuid)
        case .objectKey(let key): return key.isNull ? .null : .link(.null, key)
        case .link(let table, let key): return key.isNull ? .null : .link(table, key)
        case .object(let className, let key):
            return try object(of: try keyed(className, range).class, try value(of: key, range))
        case .list: throw invalid(.argument, "a single value is required, but a list was passed", range)
        case .shape: throw invalid(.argument, "a shape is only allowed after geoWithin", range)
        }
    }

    /// Returns a class whose objects have primary keys, and the type of these.
    ///
    /// - Parameters:
    ///   - className: The name of the class, with or without its prefix.
    ///   - range: The bytes of the text, for the position of an error.
    private func keyed(_ className: String, _ range: Range<Int>) throws(QueryError) -> (class: Table, type: OperandType) {
        guard let target = snapshot.table(named: className) ?? snapshot.classTable(named: className) else {
            let hint = Suggestion.hint(for: className, in: snapshot.classes.lazy.compactMap(\.className))
            throw invalid(.unknownProperty, "unknown object type '\(className.truncated)'\(hint)", range)
        }
        guard let primaryKey = target.primaryKey else {
            throw invalid(.structure, "'\(className)' has no primary key", range)
        }
        return (target, OperandType(primaryKey.type))
    }

    /// Returns the primary key inside `obj()`. A text that was passed is read by the type of the key.
    ///
    /// - Throws: `QueryError.invalid` for a text that cannot be read in this way, and for any other value of another type where
    ///   values have to fit.
    private func primaryKey(_ constant: ConstantSyntax, _ type: OperandType) throws(QueryError) -> Value {
        guard case .argument(let number, _) = constant.kind else { return try value(of: constant) }
        let argument = try argument(number, constant.range)
        let isText = argument.isText
        let key =
            isText ? try converted(argument, constant, type, reading: type) : try value(of: argument, constant.range)
        guard OperandType(of: key) == type || !isText && !demandsFit else {
            throw invalid(
                .argument, "argument \(source(constant.range)) is no \(type.rawValue), expected \(PlainText.form(of: type))",
                constant.range)
        }
        return key
    }

    /// Returns the link to the object of a class with a primary key. When there is none, the link equals nothing: the engine
    /// takes null in its place, and finds the objects that link to nothing.
    private func object(of target: Table, _ key: Value) throws(QueryError) -> Value {
        let found = try storage { () throws(StorageError) in try target.findByPrimaryKey(key) }
        return .link(target.key, found?.key ?? .missing)
    }

    // MARK: - Conversion

    /// Returns the value of an argument for a comparison with a value of type `hint`.
    ///
    /// A text without a type is read by the type `reading`, and remains a string when it cannot be; all
    /// else is converted like a literal.
    private func converted(
        _ argument: QueryArgument, _ constant: ConstantSyntax, _ hint: OperandType, reading: OperandType
    ) throws(QueryError) -> Value {
        let value = try value(of: argument, constant.range)
        guard case .text(let text) = argument, hint != .typeOfValue else {
            return try convert(value, constant, numeric(hint, reading))
        }
        return PlainText.value(text, as: reading, in: pool) ?? value
    }

    /// Returns the type to which a constant is converted: that of the values of a dictionary of floats, although it is compared as if
    /// they were mixed; otherwise `hint`.
    private func numeric(_ hint: OperandType, _ reading: OperandType) -> OperandType {
        hint == .mixed && reading == .float ? .float : hint
    }

    /// Converts a constant for a comparison with a value of type `hint`. A value that cannot be converted remains as it is.
    ///
    /// - Parameters:
    ///   - constant: The constant as it is written, for exact decimals and for the positions of
    ///     errors.
    ///   - hint: The type of the other side.
    /// - Throws: `QueryError.invalid` for infinity and NaN where they are not supported, and for
    ///   unknown names of types.
    private func convert(_ value: Value, _ constant: ConstantSyntax, _ hint: OperandType) throws(QueryError) -> Value {
        switch value {
        case .int where hint == .typeOfValue:
            throw invalid(
                .typeMismatch, "@type can only be compared with the name of a type or another @type", constant.range)
        case .int(let number):
            switch hint {
            case .decimal: return .decimal(Decimal128(number))
            // Beyond 2^53 a whole number that is no double remains what it is, and equals no double.
            case .double where !isArithmetic: return Double(exactly: number).map(Value.double) ?? value
            case .float where !isArithmetic: return .float(Float(number))
            default: return value
            }
        case .decimal(let number):
            switch hint {
            case .int where !isArithmetic: return number.exactInt64.map(Value.int) ?? value
            // Infinity and NaN remain decimals, which a float may equal as well.
            case .float where !isArithmetic && number.isFinite:
                let float = Float(number.doubleValue)
                return float.isFinite ? .float(float) : value
            default: return value
            }
        case .double(let number): return try convert(number, constant, hint)
        case .float(let number):
            if hint == .double, !isArithmetic { return .double(Double(number)) }
            guard hint == .int else { return value }
            guard number.isFinite else {
                throw invalid(.typeMismatch, "infinity and NaN are not supported for \(hint.rawValue)", constant.range)
            }
            return Int64(exactly: number).map(Value.int) ?? value
        case .string(let text): return try convert(text, constant, hint)
        default: return value
        }
    }

    /// Converts a double for a comparison with a value of type `hint`.
    ///
    /// It becomes an int where it has no fraction, or the nearest float. A decimal is made from the
    /// digits of a literal, which are more than a double can hold.
    private func convert(_ number: Double, _ constant: ConstantSyntax, _ hint: OperandType) throws(QueryError) -> Value {
        guard !number.isInfinite || (hint.isNumeric && hint != .int) else {
            throw invalid(.typeMismatch, "infinity is not supported for \(hint.rawValue)", constant.range)
        }
        switch hint {
        case .float:
            // A number beyond the floats is no infinity.
            let float = Float(number)
            return float.isInfinite && number.isFinite ? .double(number) : .float(float)
        case .int: return Int64(exactly: number).map(Value.int) ?? .double(number)
        case .decimal:
            // The text of a literal holds more digits than the double.
            if case .double(_, let text) = constant.kind, let decimal = NumericText.decimal(text) { return .decimal(decimal) }
            return .decimal(Decimal128(number))
        default: return .double(number)
        }
    }

    /// Converts a text for a comparison with a value of type `hint`.
    ///
    /// For a numeric type it becomes the number with which it begins, and for `@type` the set of
    /// types that it names. Without such a number it remains a text.
    private func convert(_ text: ByteView, _ constant: ConstantSyntax, _ hint: OperandType) throws(QueryError) -> Value {
        switch hint {
        case .int: return NumericText.leadingInteger(text).map(Value.int) ?? .string(text)
        case .float: return NumericText.leadingFloat(text).map(Value.float) ?? .string(text)
        case .double: return NumericText.leadingDouble(text).map(Value.double) ?? .string(text)
        case .decimal: return NumericText.wholeDecimal(text).map(Value.decimal) ?? .string(text)
        case .typeOfValue:
            guard let bits = TypeName.bits(named: text) else {
                let hint = Suggestion.hint(for: text.string, in: TypeName.all)
                throw invalid(.typeMismatch, "'\(text.string.truncated)' is not the name of a type\(hint)", constant.range)
            }
            return .int(bits)
        default: return .string(text)
        }
    }
}
