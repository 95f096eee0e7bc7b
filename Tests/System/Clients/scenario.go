// SPDX-License-Identifier: Apache-2.0
// What an app does, with the generated Go client.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	store "example.org/store"
)

func done(name string) { fmt.Println("ok", name) }

func check(value bool, what string) {
	if !value {
		panic(what)
	}
}

func must(err error) {
	if err != nil {
		if open, ok := err.(*store.GenericOpenAPIError); ok {
			panic(string(open.Body()) + err.Error())
		}
		panic(err)
	}
}

func status(answer *http.Response) int {
	if answer == nil {
		return -1
	}
	return answer.StatusCode
}

func main() {
	configuration := store.NewConfiguration()
	configuration.Servers = store.ServerConfigurations{{URL: os.Args[1]}}
	client, background := store.NewAPIClient(configuration), context.Background()
	categories := client.CategoryAPI

	first, _, err := categories.ListCategory(background).Limit(5).Execute()
	must(err)
	check(len(first.Items) == 5 && first.Items[0].GetName() != "", "list")
	done("list")

	var seen []int64
	for after := ""; ; {
		request := categories.ListCategory(background).Limit(7)
		if after != "" {
			request = request.After(after)
		}
		page, _, err := request.Execute()
		must(err)
		for _, one := range page.Items {
			seen = append(seen, one.GetId())
		}
		if after = page.GetNext(); after == "" {
			break
		}
	}
	check(len(seen) > 7, "page")
	done("page")

	found, _, err := categories.ListCategory(background).Where("id > $0").Args("[3]").Sort("-id").Count("exact").Execute()
	must(err)
	check(found.GetCount() == int64(len(seen)-3), "filter")
	done("filter")

	orders, _, err := client.OrderAPI.ListOrder(background).Limit(1).Expand("customer").Execute()
	must(err)
	customer, item := orders.Items[0].GetCustomer(), orders.Items[0].Items[0]
	product := item.GetProduct()
	target := product.GetLink()
	check(customer.GetFirstName() != "" && target.GetKey() != "", "expand")
	done("expand")

	create := store.NewCategoryCreate(9001, "Made")
	create.SetParent(*store.NewLink(*store.NewLinkTarget("Category", "1")))
	made, _, err := categories.CreateCategory(background).CategoryCreate(*create).Execute()
	must(err)
	meta := made.GetMeta()
	check(made.GetId() == 9001, "create")
	done("create")

	patch := store.NewCategoryPatch()
	patch.SetName("Changed")
	changed, _, err := categories.UpdateCategory(background, "9001").CategoryPatch(*patch).IfMatch(meta.GetEtag()).Execute()
	must(err)
	check(changed.GetName() == "Changed", "patch")
	done("patch")

	_, answer, _ := categories.UpdateCategory(background, "9001").CategoryPatch(*patch).IfMatch(meta.GetEtag()).Execute()
	check(status(answer) == 412, "conflict")
	done("conflict")

	_, err = categories.DeleteCategory(background, "9001").Execute()
	must(err)
	_, answer, _ = categories.GetCategory(background, "9001").Execute()
	check(status(answer) == 404, "delete")
	done("delete")

	operations := []store.BatchOperation{*store.NewBatchOperation(), *store.NewBatchOperation()}
	operations[0].SetCreate(*store.NewBatchCreate("Category", map[string]interface{}{"id": 9002, "name": "Batch"}))
	operations[1].SetDelete(*store.NewBatchDelete("Category", "9002"))
	result, _, err := client.ObjectsAPI.Batch(background).Batch(*store.NewBatch(operations)).Execute()
	must(err)
	check(result.Committed && result.Results[0].GetKey() == "9002", "batch")
	renamed := store.NewCategoryPatch()
	renamed.SetName("Patched")
	ofCategory := []store.CategoryBatchOperation{*store.NewCategoryBatchOperation(), *store.NewCategoryBatchOperation()}
	ofCategory[0].SetCreate(*store.NewCategoryBatchCreate(*store.NewCategoryCreate(9006, "Typed")))
	ofCategory[1].SetPatch(*store.NewCategoryBatchPatch("9006", *renamed))
	typed, _, err := categories.BatchCategory(background).CategoryBatch(*store.NewCategoryBatch(ofCategory)).Prefer("return=representation").Execute()
	must(err)
	patched := typed.Results[1].GetObject()
	check(patched.GetName() == "Patched", "batch of a class")
	removal := []store.CategoryBatchOperation{*store.NewCategoryBatchOperation()}
	removal[0].SetDelete(*store.NewClassBatchDelete("9006"))
	_, _, err = categories.BatchCategory(background).CategoryBatch(*store.NewCategoryBatch(removal)).Execute()
	must(err)
	done("batch")

	options := store.NewTransactionOptions()
	options.SetIdle("5s")
	transaction, _, err := client.TransactionsAPI.BeginTransaction(background).TransactionOptions(*options).Execute()
	must(err)
	_, _, err = categories.CreateCategory(background).CategoryCreate(*store.NewCategoryCreate(9003, "Inside")).RealmTransaction(transaction.Id).Execute()
	must(err)
	_, _, err = client.TransactionsAPI.CommitTransaction(background, transaction.Id).Execute()
	must(err)
	done("transaction")

	begin, _, err := categories.PollCategory(background).Since("now").Execute()
	must(err)
	go func() {
		time.Sleep(300 * time.Millisecond)
		seen := store.NewCategoryPatch()
		seen.SetName("Seen")
		categories.UpdateCategory(background, "9003").CategoryPatch(*seen).Execute()
	}()
	changes, _, err := categories.PollCategory(background).Since(begin.Next).Wait(20).Execute()
	must(err)
	object := changes.Changes[0].Modifications[0].GetObject()
	check(object.GetName() == "Seen", "poll")
	done("poll")

	file, _, err := client.TransferAPI.ExportRealm(background).Class("Category").Execute()
	must(err)
	file.Seek(0, 0)
	lines := new(bytes.Buffer)
	lines.ReadFrom(file)
	check(bytes.Count(lines.Bytes(), []byte("\n")) > len(seen), "export")
	done("export")

	rows := []map[string]interface{}{{"id": 9003, "name": "Imported"}}
	imported, _, err := client.TransferAPI.ImportObjects(background).RequestBody(rows).Mode("upsert").Class("Category").Execute()
	must(err)
	check(imported.Updated == 1, "import")
	_, err = categories.DeleteCategory(background, "9003").Execute()
	must(err)
	done("import")
}
