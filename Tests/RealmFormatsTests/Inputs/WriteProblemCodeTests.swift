// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmFormats
import RealmPlatform
import Testing

@Suite struct WriteProblemCodeTests {
    /// Those of other layers have the code of what they wrap.
    private static let internalCodes: Set<WriteError.Code> = [.cancelled, .storage, .query, .caller]

    @Test(arguments: WriteError.Code.allCases)
    func `the code of a write error is the code of its problem`(_ code: WriteError.Code) {
        #expect((ProblemCode(rawValue: code.rawValue) == nil) == WriteProblemCodeTests.internalCodes.contains(code))
        let expected = code == .query ? "invalid_query" : ProblemCode(rawValue: code.rawValue)?.rawValue ?? "internal_error"
        #expect(Problem(WriteError(code, "no")).code.rawValue == expected)
    }
}
