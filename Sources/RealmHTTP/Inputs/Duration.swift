// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Durations in documents: `<n>s` or `<n>m`.
enum Duration {
    static func seconds(_ text: String) -> Double? {
        guard let unit = text.utf8.last, unit == UInt8(ascii: "s") || unit == UInt8(ascii: "m") else { return nil }
        let digits = text.utf8.dropLast()
        guard (1...9).contains(digits.count), digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let number = Double(String(digits) ?? "")
        else { return nil }
        return unit == UInt8(ascii: "m") ? number * 60 : number
    }

    static func text(_ seconds: Double) -> String { "\(Int(min(max(seconds, 0), 1e9).rounded(.up)))s" }
}
