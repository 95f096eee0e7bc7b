// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmPlatform
internal import RealmStorage

/// Lines of bodies that are read line by line.
extension [UInt8] {
    /// Returns the index of the first line feed at or behind an index; nil when there is none. The C library compares 32 bytes at a
    /// time.
    ///
    /// - Parameter start: An index of the array, or its end.
    /// - Complexity: O(n) in the bytes up to the line feed.
    package func firstLineFeed(from start: Int) -> Int? {
        unsafe withUnsafeBytes { bytes in
            let rest = unsafe bytes[start...]
            guard let base = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                let found = unsafe memchr(base, CInt(UInt8(ascii: "\n")), rest.count)
            else { return nil }
            return unsafe start + (UnsafeRawPointer(found) - base)
        }
    }
}
