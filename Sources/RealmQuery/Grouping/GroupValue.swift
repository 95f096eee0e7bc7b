// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A value that rows share, and that identifies their group or section.
///
/// Equal values are those that groups of a result have in common: numbers of one type by value, so that decimals 1.0 and 1.00
/// are one, zeros without regard to their sign, NaNs by their bits, and texts by their bytes. Inside of Mixed, numbers of
/// different types are one value if they are equal.
package struct GroupValue: Hashable, Sendable {
    /// The value, as the first row has it. A zero has no sign, and a whole number inside of Mixed is an int.
    package let value: QueryArgument
    /// Whether the value comes from a mixed property, so that only a wrapper states its type.
    package let isMixed: Bool

    /// Creates the value of a group.
    ///
    /// - Parameters:
    ///   - value: A value of a row; not a collection or a shape.
    ///   - isMixed: Whether the property is mixed.
    package init(_ value: QueryArgument, isMixed: Bool = false) {
        self.isMixed = isMixed
        guard let number = value.number else {
            self.value = value
            return
        }
        self.value = QueryArgument(copying: number.asGroupValue(isMixed: isMixed))
    }

    /// The number in the form in which groups compare it; nil for all other values.
    private var number: Value? { value.number?.asGroupKey(isMixed: isMixed) }

    /// Returns whether rows with the one value and with the other are in one group.
    package static func == (left: GroupValue, right: GroupValue) -> Bool {
        switch (left.value, right.value) {
        case (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.string(let left), .string(let right)): return left.utf8.elementsEqual(right.utf8)
        case (.stringBytes(let left), .stringBytes(let right)), (.binary(let left), .binary(let right)): return left == right
        case (.timestamp(let left), .timestamp(let right)): return left == right
        case (.objectID(let left), .objectID(let right)): return left == right
        case (.uuid(let left), .uuid(let right)): return left == right
        case (.link(let table, let key), .link(let otherTable, let otherKey)): return table == otherTable && key == otherKey
        default:
            guard let left = left.number, let right = right.number else { return false }
            return ValueNumbering.areSame(left, right)
        }
    }

    /// Feeds a hash that equal values share.
    package func hash(into hasher: inout Hasher) {
        switch value {
        case .bool(let flag): hasher.combine(flag)
        case .string(let text): hasher.combine(bytes: text.utf8)
        case .stringBytes(let bytes), .binary(let bytes): hasher.combine(bytes: bytes)
        case .timestamp(let date): hasher.combine(date)
        case .objectID(let id): hasher.combine(id)
        case .uuid(let id): hasher.combine(id)
        case .link(let table, let key):
            hasher.combine(table)
            hasher.combine(key)
        default: number?.hashByOrder(into: &hasher)
        }
    }

    /// About the length in bytes of the value, which is charged to the budget of a request.
    package var byteCount: Int { 16 + value.byteCount }
}

extension Hasher {
    /// Feeds the bytes of a text or of data.
    fileprivate mutating func combine(bytes: some Sequence<UInt8>) { for byte in bytes { combine(byte) } }
}

extension QueryArgument {
    /// The number that the argument is; nil for all other arguments.
    package var number: Value? {
        switch self {
        case .int(let number): return .int(number)
        case .float(let number): return .float(number)
        case .double(let number): return .double(number)
        case .decimal(let number): return .decimal(number)
        default: return nil
        }
    }
}

extension Value {
    /// The value as a group shows it: zero has no sign, a missing value is null, and a whole number inside of Mixed is an int,
    /// whatever its type.
    func asGroupValue(isMixed: Bool) -> Value {
        switch self {
        case .double(let number):
            if isMixed, let whole = Int64(exactly: number) { return .int(whole) }
            return number == 0 ? .double(0) : self
        case .float(let number):
            if isMixed, let whole = Int64(exactly: number) { return .int(whole) }
            return number == 0 ? .float(0) : self
        case .decimal(let number):
            if isMixed, let whole = number.exactInt64 { return .int(whole) }
            return self
        default: return isMissing ? .null : self
        }
    }

    /// The value as groups compare it: inside of Mixed a float counts as the double that it is, and a decimal as the double that
    /// equals it, if there is one. Equality of decimals and doubles itself is not transitive.
    func asGroupKey(isMixed: Bool) -> Value {
        guard isMixed else { return self }
        switch self {
        case .float(let number): return .double(Double(number))
        case .decimal(let number):
            let near = number.doubleValue
            return near.isFinite && Decimal128(near).isEqual(to: number) ? .double(near) : self
        default: return self
        }
    }
}
