// SPDX-License-Identifier: Apache-2.0

/// What a property holds besides a single value.
package enum CollectionKind: Sendable, Hashable { case list, set, dictionary }
