// SPDX-License-Identifier: Apache-2.0

/// What can be said about a page of 4096 plain bytes. Pages of a file that is not encrypted are always present.
package enum PageState: Sendable {
    /// The page has contents that pass their check.
    case present
    /// The page has a place in the file but was never written; it reads as zeros.
    case neverWritten
    /// The contents of the page do not pass their check.
    case damaged
}
