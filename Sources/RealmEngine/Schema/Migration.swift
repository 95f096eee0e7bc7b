// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// A change of the schema with what happens to the data, from one schema version to another.
package struct Migration: Sendable {
    /// Has to be the version of the file; 0 for a file that has none.
    package var fromVersion: UInt64
    package var toVersion: UInt64
    package var steps: [MigrationStep]
    /// Without it, steps that lose data are refused.
    package var allowsDataLoss = false

    package init(from: UInt64, to: UInt64, _ steps: [MigrationStep], allowsDataLoss: Bool = false) {
        fromVersion = from
        toVersion = to
        self.steps = steps
        self.allowsDataLoss = allowsDataLoss
    }
}

/// Objects of a class, chosen by a query.
package struct MigrationMatch: Sendable {
    package let className: String
    package let query: Query
    /// Reads the arguments against the state in which the step begins.
    package let arguments: @Sendable (Snapshot) throws -> [QueryArgument]

    package init(
        _ className: String, _ query: Query = .all,
        arguments: @escaping @Sendable (Snapshot) throws -> [QueryArgument] = { _ in [] }
    ) {
        self.className = className
        self.query = query
        self.arguments = arguments
    }
}

package enum MigrationStep: Sendable {
    case addClass(ClassInput)
    case removeClass(name: String)
    case renameClass(name: String, to: String)
    /// `value` is what existing objects get.
    case addProperty(className: String, PropertyInput, value: InputValue?)
    case removeProperty(className: String, name: String)
    case renameProperty(className: String, name: String, to: String)
    /// What is nil stays. `conversion` is a name of `ValueConversion`; `nullValue` replaces nulls.
    case changeProperty(
        className: String, name: String, optional: Bool?, type: String?, conversion: String?, nullValue: InputValue?)
    /// Nil clears.
    case setPrimaryKey(className: String, name: String?)
    case setIndex(className: String, name: String, indexed: String?)
    case setType(className: String, type: String)
    /// Merges values into matches; entries may be expressions over the values before.
    case set(MigrationMatch, values: InputObject)
    case create(className: String, body: InputObject)
    case delete(MigrationMatch)

    /// The member that the step is written as.
    var name: String {
        switch self {
        case .addClass: return "addClass"
        case .removeClass: return "removeClass"
        case .renameClass: return "renameClass"
        case .addProperty: return "addProperty"
        case .removeProperty: return "removeProperty"
        case .renameProperty: return "renameProperty"
        case .changeProperty: return "changeProperty"
        case .setPrimaryKey: return "setPrimaryKey"
        case .setIndex: return "setIndex"
        case .setType: return "setType"
        case .set: return "set"
        case .create: return "create"
        case .delete: return "delete"
        }
    }
}

/// Ways from one type to another, by the names that migrations use.
package enum ValueConversion: String, Sendable, CaseIterable {
    case intToDouble = "int-to-double"
    case intToString = "int-to-string"
    case stringToInt = "string-to-int"
    case doubleToDecimal128 = "double-to-decimal128"
    case stringToObjectId = "string-to-objectId"
    case stringToUuid = "string-to-uuid"
    case toMixed = "to-mixed"
    case intToDateSeconds = "int-to-date-seconds"
    case intToDateMilliseconds = "int-to-date-milliseconds"

    /// Nil: any.
    var source: PropertyType? {
        switch self {
        case .intToDouble, .intToString, .intToDateSeconds, .intToDateMilliseconds: return .int
        case .stringToInt, .stringToObjectId, .stringToUuid: return .string
        case .doubleToDecimal128: return .double
        case .toMixed: return nil
        }
    }

    var target: PropertyType {
        switch self {
        case .intToDouble: return .double
        case .intToString: return .string
        case .stringToInt: return .int
        case .doubleToDecimal128: return .decimal128
        case .stringToObjectId: return .objectId
        case .stringToUuid: return .uuid
        case .toMixed: return .mixed
        case .intToDateSeconds, .intToDateMilliseconds: return .date
        }
    }

    /// Nil when the value cannot be converted.
    func convert(_ value: Value) -> OwnedValue? {
        switch (self, value) {
        case (_, .null): return OwnedValue(.null)
        case (.intToDouble, .int(let number)): return OwnedValue(.double(Double(number)))
        case (.intToString, .int(let number)): return .string(String(number))
        case (.stringToInt, .string(let bytes)):
            return bytes.validatedString.flatMap { Int64($0) }.map { OwnedValue(.int($0)) }
        case (.doubleToDecimal128, .double(let number)): return OwnedValue(.decimal(Decimal128(number)))
        case (.stringToObjectId, .string(let bytes)):
            return bytes.validatedString.flatMap { ObjectID($0) }.map { OwnedValue(.objectID($0)) }
        case (.stringToUuid, .string(let bytes)):
            return bytes.validatedString.flatMap { UUIDValue($0) }.map { OwnedValue(.uuid($0)) }
        case (.intToDateSeconds, .int(let seconds)):
            return OwnedValue(.timestamp(Timestamp(seconds: seconds, nanoseconds: 0)))
        case (.intToDateMilliseconds, .int(let milliseconds)):
            let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
            return OwnedValue(.timestamp(Timestamp(seconds: seconds, nanoseconds: Int32(rest) * 1_000_000)))
        case (.toMixed, _): return OwnedValue(copying: value)
        default: return nil
        }
    }
}
