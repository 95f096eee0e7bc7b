// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The memory of definitions.
extension SubscriptionDefinition {
    /// The approximate number of copies of a definition's text: as written, in identities, as arguments and in parsed form.
    private static let textCopies = 10
    /// The memory in bytes for each byte of a condition, parsed and planned, about.
    private static let bytesOfCondition = 32
    /// The memory in bytes for each value of the arguments besides its text, about.
    private static let bytesOfValue = 256

    /// Returns the approximate memory in bytes of the definition with its query and its arguments.
    ///
    /// - Parameter textBytes: The length of its document in bytes.
    func byteCount(textBytes: Int) -> Int {
        let values = args.reduce(0) { $0 + SubscriptionDefinition.valueCount(of: $1) }
        let condition = predicate?.utf8.count ?? 0
        return textBytes * SubscriptionDefinition.textCopies + condition * SubscriptionDefinition.bytesOfCondition
            + values * SubscriptionDefinition.bytesOfValue
    }

    /// Returns the number of values in an argument, itself included.
    private static func valueCount(of value: JSONValue) -> Int {
        switch value {
        case .array(let elements): return elements.reduce(1) { $0 + valueCount(of: $1) }
        case .object(let object): return object.members.reduce(1) { $0 + valueCount(of: $1.value) }
        default: return 1
        }
    }
}
