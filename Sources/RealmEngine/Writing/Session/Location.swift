// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A place inside an object that a path leads to.
///
/// Paths come from JSON Patch and from property addresses in batches. They may lead through embedded objects and through
/// collections in mixed values, but never through links to top-level objects. A location is valid until the next change.
enum Location {
    /// The object itself, for an empty path.
    case object(ObjectPlace)
    /// A single value: that of a property, an element of a list or an entry of a dictionary, with the values it accepts.
    case slot(Slot, SlotShape)
    /// The list, set or dictionary of a property.
    case collection(ObjectPlace, Column, CollectionKind)
    /// A member of a set, by its position in the order of the set.
    case member(CollectionPlace, Int)
    /// The place at which a member is added to a set, for the path step `-`.
    case newMember(CollectionPlace)
}
