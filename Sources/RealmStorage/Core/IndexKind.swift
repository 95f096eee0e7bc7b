// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The kinds of index that a user can declare for a property.
///
/// A general index finds equal values and speeds primary keys up; a full-text index finds the
/// objects whose text has a word. A column has one of them at most.
package enum IndexKind: Sendable, Hashable { case general, fullText }
