// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A place inside an object, as paths lead to it.
///
/// Paths come from JSON Patch and from the addresses of properties in batches. They may lead through embedded objects and
/// through collections in mixed values, never through links to objects of their own.
enum Location {
    /// An object itself.
    case object(ObjectPlace)
    /// A single value: of a property, an element or an entry.
    case slot(Slot, SlotShape)
    /// The collection of a property.
    case collection(ObjectPlace, Column, CollectionKind)
    /// A member of a set, by its position.
    case member(CollectionPlace, Int)
    /// Where a member is added to a set.
    case newMember(CollectionPlace)
}
