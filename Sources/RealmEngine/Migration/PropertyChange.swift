// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A property that gets another type or another nullability.
struct PropertyChange {
    /// The class, without prefix.
    let className: String
    /// The property.
    let name: String
    /// Whether it may be null afterwards; nil leaves that.
    let optional: Bool?
    /// The name of its new type; nil leaves it.
    let type: String?
    /// The name of a `ValueConversion`; needed when the type changes.
    let conversion: String?
    /// What replaces nulls where they are no longer possible.
    let nullValue: InputValue?
}
