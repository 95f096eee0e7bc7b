// SPDX-License-Identifier: Apache-2.0

extension Decimal128 {
    /// The number without its fraction, if it is finite and fits: what a search index files a decimal under.
    package var truncatedInteger: Int64? {
        guard case .finite(let isNegative, var coefficient, let exponent) = parts else { return nil }
        guard coefficient != 0, coefficient < Decimal128.coefficientLimit else { return 0 }
        if exponent < 0 {
            guard exponent > -35 else { return 0 }
            for _ in 0..<(-exponent) { coefficient /= 10 }
        } else {
            guard exponent < 20 else { return nil }
            for _ in 0..<exponent {
                guard coefficient <= UInt128(UInt64.max) else { return nil }
                coefficient *= 10
            }
        }
        return isNegative ? Int64(exactly: -Int128(clamping: coefficient)) : Int64(exactly: coefficient)
    }
}
