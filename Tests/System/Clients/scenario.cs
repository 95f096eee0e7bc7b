// SPDX-License-Identifier: Apache-2.0
// What an app does, with the generated C# client.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Store.Api;
using Store.Client;
using Store.Model;

static class Scenario
{
    static void Done(string name) { Console.WriteLine("ok " + name); }

    static void Check(bool value, string what) { if (!value) throw new Exception(what); }

    static int Status(Action work)
    {
        try { work(); return 200; } catch (ApiException error) { return error.ErrorCode; }
    }

    static void Main(string[] arguments)
    {
        var url = arguments[0];
        var categories = new CategoryApi(url);
        var transactions = new TransactionsApi(url);
        var transfer = new TransferApi(url);

        var first = categories.ListCategory(limit: 5);
        Check(first.Items.Count == 5 && first.Items[0].Name != null, "list");
        Done("list");

        var seen = new List<long>();
        string after = null;
        do
        {
            var page = categories.ListCategory(limit: 7, after: after);
            seen.AddRange(page.Items.Select(one => one.Id));
            after = page.Next;
        } while (after != null);
        Check(seen.Count > 7 && seen.Distinct().Count() == seen.Count, "page");
        Done("page");

        var found = categories.ListCategory(where: "id > $0", args: "[3]", sort: "-id", count: "exact");
        Check(found.Items[0].Id == seen.Max() && found.Count == seen.Count(one => one > 3), "filter");
        Done("filter");

        var order = new OrderApi(url).ListOrder(limit: 1, expand: "customer").Items[0];
        Check(order.Customer.FirstName != null && order.Items[0].Product.Link.Key != null && order.ShipTo.City != null, "expand");
        Done("expand");

        var parent = new Link(new LinkTarget("Category", "1"));
        var made = categories.CreateCategory(new CategoryCreate(id: 9001, name: "Made", parent: parent));
        Check(made.Id == 9001 && made.Parent.Link.Key == "1", "create");
        Done("create");

        var tag = made.Meta.Etag;
        var changed = categories.UpdateCategory("9001", new CategoryPatch(name: "Changed"), ifMatch: tag);
        Check(changed.Name == "Changed", "patch");
        Done("patch");

        Check(Status(() => categories.UpdateCategory("9001", new CategoryPatch(name: "Lost"), ifMatch: tag)) == 412, "conflict");
        Done("conflict");

        categories.DeleteCategory("9001");
        Check(Status(() => categories.GetCategory("9001")) == 404, "delete");
        Done("delete");

        var body = new Dictionary<string, object> { { "id", 9002 }, { "name", "Batch" } };
        var result = new ObjectsApi(url).Batch(new Batch(new List<BatchOperation> {
            new BatchOperation(create: new BatchCreate("Category", body)),
            new BatchOperation(delete: new BatchDelete("Category", "9002")),
        }));
        Check(result.Committed && result.Results[0].Key == "9002", "batch");
        var typed = categories.BatchCategory(new CategoryBatch(new List<CategoryBatchOperation> {
            new CategoryBatchOperation(create: new CategoryBatchCreate(new CategoryCreate(id: 9006, name: "Typed"))),
            new CategoryBatchOperation(patch: new CategoryBatchPatch("9006", body: new CategoryPatch(name: "Patched"))),
        }), prefer: "return=representation");
        Check(typed.Results[1].Object.Name == "Patched", "batch of a class");
        categories.BatchCategory(new CategoryBatch(new List<CategoryBatchOperation> {
            new CategoryBatchOperation(delete: new ClassBatchDelete("9006")),
        }));
        Done("batch");

        var transaction = transactions.BeginTransaction(transactionOptions: new TransactionOptions(idle: "5s"));
        categories.CreateCategory(new CategoryCreate(id: 9003, name: "Inside"), realmTransaction: transaction.Id);
        transactions.CommitTransaction(transaction.Id);
        Check(categories.GetCategory("9003").Name == "Inside", "transaction");
        Done("transaction");

        var since = categories.PollCategory(since: "now").Next;
        var write = Task.Run(() =>
        {
            Thread.Sleep(300);
            categories.UpdateCategory("9003", new CategoryPatch(name: "Seen"));
        });
        var changes = categories.PollCategory(since: since, wait: 20);
        write.Wait();
        Check(changes.Changes[0].Modifications[0].Object.Name == "Seen", "poll");
        Done("poll");

        var lines = new StreamReader(transfer.ExportRealm(varClass: "Category").Content).ReadToEnd();
        Check(lines.Split('\n').Length > seen.Count, "export");
        Done("export");

        var rows = new List<object> { new Dictionary<string, object> { { "id", 9003 }, { "name", "Imported" } } };
        var imported = transfer.ImportObjects(rows, mode: "upsert", varClass: "Category");
        Check(imported.Updated == 1 && categories.GetCategory("9003").Name == "Imported", "import");
        categories.DeleteCategory("9003");
        Done("import");
    }
}
