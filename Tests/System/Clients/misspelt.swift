// SPDX-License-Identifier: Apache-2.0
// Each of these is a mistake that the compiler has to find.
import OpenAPIClient

func read(_ one: OpenAPIClient.Category) -> String? { one.nmae }
func inner(_ one: Customer) -> String? { one.address?.cty }
let several = CategoryBatchPatch(key: .string("1"), body: CategoryPatch(titel: ""))
let made = CategoryCreate(id: 1, name: "", sortOrdr: 1)
