// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The state of a page of 4096 plain bytes. Pages of a file that is not encrypted are always
/// present.
///
/// A page that was never written is usual at the end of a file, which may be longer than what was
/// written to it. A damaged page is an error only for readers that need something in it.
package enum PageState: Sendable {
    /// The page has contents that pass their check.
    case present
    /// The page has a place in the file but was never written; it reads as zeros.
    case neverWritten
    /// The contents of the page do not pass their check.
    case damaged
}
