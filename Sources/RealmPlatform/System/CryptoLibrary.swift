// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import SystemPackage

/// The crypto library as a whole.
package enum CryptoLibrary {
    /// Keeps the library as it is while the process exits. Otherwise `exit` would free what threads that still import keys or verify
    /// signatures use. Takes effect only before the first other call of the library.
    package static func keepUntilExit() { _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}

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
