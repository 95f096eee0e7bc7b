// SPDX-License-Identifier: Apache-2.0

extension Decimal128 {
    /// Widens a 32-bit decimal: sign in bit 31, exponent in 30:23 with bias 101, coefficient in 22:0.
    package init(stored32 bits: UInt32) {
        let exponent = UInt64(bits >> 23 & 0xff) + 6176 - 101
        self.init(low: UInt64(bits & 0x7f_ffff), high: UInt64(bits >> 31) << 63 | exponent << 49)
    }

    /// Widens a 64-bit decimal: sign in bit 63, exponent in 62:53 with bias 398, coefficient in 52:0.
    package init(stored64 bits: UInt64) {
        let exponent = (bits >> 53 & 0x3ff) + 6176 - 398
        self.init(low: bits & 0x1f_ffff_ffff_ffff, high: (bits >> 63) << 63 | exponent << 49)
    }
}
