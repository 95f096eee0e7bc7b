// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// Rights written as bytes that are equal exactly for equal rights.
///
/// Every part has its length in front, so that no two lists of parts look alike. Bytes are compared and not texts, because Swift
/// takes different texts for equal when they look the same.
struct RightsForm: Sendable, Hashable {
    /// The parts that were added.
    private(set) var bytes: [UInt8] = []

    /// Counts the digests that could not be made.
    private static let failures = Atomic<Int>(0)

    mutating func add(_ text: String) { add(Array(text.utf8)) }

    /// Adds another form as one part.
    mutating func add(_ form: RightsForm) { add(form.bytes) }

    /// Adds a list as one part.
    mutating func add(_ texts: some Collection<String>) {
        var form = RightsForm()
        for text in texts { form.add(text) }
        add(form)
    }

    /// Adds bytes, with their number in front.
    private mutating func add(_ part: [UInt8]) {
        bytes += Array("\(part.count):".utf8)
        bytes += part
    }

    /// Orders forms by their bytes, so that the order in which roles are held does not matter.
    static func precedes(_ left: RightsForm, _ right: RightsForm) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// A digest of bounded length that represents the form: its SHA-256.
    var digest: String {
        if let digest = try? FileDigest.sha256(bytes) { return FileDigest.hex(digest) }
        // Without the crypto library nothing is shared.
        return "unshared \(RightsForm.failures.wrappingAdd(1, ordering: .relaxed).newValue)"
    }
}
