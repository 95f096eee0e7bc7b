// SPDX-License-Identifier: Apache-2.0

/// What a user declared about the index of a property.
///
/// A general index answers equality and speeds primary keys up; a full-text index answers which objects have a word. A column has
/// one of them at most.
package enum IndexKind: Sendable, Hashable { case general, fullText }
