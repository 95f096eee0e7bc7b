// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A property that gets another type or another nullability.
struct PropertyChange {
    let className: String
    let name: String
    let optional: Bool?
    let type: String?
    let conversion: String?
    let nullValue: InputValue?
}
