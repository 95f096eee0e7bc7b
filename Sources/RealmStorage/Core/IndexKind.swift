// SPDX-License-Identifier: Apache-2.0

/// What a user declared about the index of a property.
package enum IndexKind: Sendable, Hashable { case general, fullText }
