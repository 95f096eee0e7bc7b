// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The API description of one server as JSON text, in both forms of integers.
///
/// Each form is assembled when a request first needs it, and kept until the limits change,
/// which are all that it depends on. Any thread may use it.
final class APIDescription: Sendable {
    /// The limits of the server; which the description states.
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }
    /// The texts made so far, by the form of integers, each with the limits that it states.
    private let texts = RankedMutex<[OpenAPIDocument.Integers: (limits: Limits, text: String)]>(.leaf, [:])

    /// Creates the description of a server; no text is made yet.
    ///
    /// - Parameter limits: The limits that the description states.
    init(_ limits: LiveLimits) { liveLimits = limits }

    /// Returns the document as JSON.
    ///
    /// Two requests that come first at the same time may both assemble the text; the lock is not
    /// held meanwhile, and the results are equal.
    ///
    /// - Parameter ints: The form of integers in the responses that are described.
    /// - Complexity: O(1) after the first call for a form.
    func text(_ ints: OpenAPIDocument.Integers) -> String {
        let limits = limits
        if let known = texts.withLock({ $0[ints] }), known.limits == limits { return known.text }
        let text = OpenAPIDocument.api(version: Build.version, ints: ints, limits: limits).json
        texts.withLock { $0[ints] = (limits, text) }
        return text
    }
}
