// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The kinds of collection that a property can hold instead of a single value.
///
/// The kind is an attribute of the column, not a part of its type: a list of integers is a column
/// of type `int` with the attribute `list`. Collections nested in Mixed have kinds of their own,
/// which their values state.
package enum CollectionKind: Sendable, Hashable { case list, set, dictionary }
