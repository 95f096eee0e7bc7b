// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension DictionaryOperand {
    /// Returns what the steps select if that is the value of one key or all values; nil for longer paths.
    ///
    /// - Parameter quantifier: How many of the values have to fulfil a comparison.
    func part(_ quantifier: Quantifier) -> EntriesCondition.Part? {
        guard descent.steps.count == 1 else { return nil }
        switch descent.steps[0] {
        case .all: return .values(quantifier)
        case .key(let name, let key) where name != "@keys" && quantifier == .any: return .value(ofKey: key)
        default: return nil
        }
    }
}
