// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A request to change the type, the nullability or the kind of collection of one property: the
/// `changeProperty` step of a migration.
package struct PropertyChange: Sendable {
    /// The name of the class without the prefix of its table.
    package let className: String
    /// The name of the property, which it keeps.
    package let name: String
    /// Whether the property may be null afterwards; nil leaves this unchanged.
    package var optional: Bool?
    /// The name of the new type, as `PropertyType` spells it; nil leaves the type unchanged or takes it from the conversion.
    package var type: String?
    /// The name of a `ValueConversion` or a `CollectionConversion`; required when the type changes.
    package var conversion: String?
    /// The value that replaces nulls; without it nulls that become impossible count as lost data.
    package var nullValue: InputValue?
    /// The fallback for a value that the conversion does not accept; nil means an error. It needs a conversion.
    package var onFailure: PropertyChange.Failure?
    /// Whether the conversion may round numbers; nil means that it may not. It needs a conversion.
    package var rounding: PropertyChange.Rounding?

    /// Makes a change of a property that changes nothing yet.
    package init(_ className: String, _ name: String) {
        self.className = className
        self.name = name
    }
}

extension PropertyChange {
    /// The fallback for a value that a conversion does not accept. The raw values are those of the member `onFailure`.
    package enum Failure: String, Sendable, CaseIterable {
        /// The step fails, and names the object.
        case error
        /// The value becomes null, which the new property has to allow.
        case null
        /// The value becomes `nullValue`, or the default value of the new type when there is none.
        case `default`
    }
}

extension PropertyChange {
    /// How a conversion treats a number that the new type cannot hold exactly. The raw values are those of the
    /// member `rounding`.
    package enum Rounding: String, Sendable, CaseIterable {
        /// The conversion of the value fails.
        case exact
        /// The nearest number of the new type is taken; of two that are equally near, the even one.
        case nearest
        /// The fraction is cut off when the new type is a whole number; otherwise like `nearest`.
        case truncate
    }
}
