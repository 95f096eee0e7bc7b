// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// What the rule of an embedded class means of which some objects are not shown: an object is shown when one that owns it is, through
/// a property that is shown.
package struct OwnerRule: Sendable {
    /// The rules of the classes with objects that own some of the class, also through others, as far as they have one.
    package let rules: [ObjectRule]
}
