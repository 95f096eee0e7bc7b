// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import SystemPackage

/// Errors of the crypto library.
extension StorageError {
    /// Makes the error for a failure of the crypto library, which happens only for lack of memory
    /// or when an algorithm is disabled. It has the reason that the library recorded on this thread.
    ///
    /// - Parameter call: The function or the algorithm that failed.
    static func cryptography(_ call: String) -> StorageError {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        let reason = unsafe ERR_reason_error_string(code).map { unsafe " (" + String(cString: $0) + ")" } ?? ""
        return .io(operation: call + reason, errno: Errno.ioError.rawValue)
    }
}
