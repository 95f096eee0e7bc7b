// SPDX-License-Identifier: Apache-2.0
// What an app does, with the generated Java client.
import java.io.File;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.CategoryApi;
import org.openapitools.client.api.ObjectsApi;
import org.openapitools.client.api.OrderApi;
import org.openapitools.client.api.TransactionsApi;
import org.openapitools.client.api.TransferApi;
import org.openapitools.client.model.*;

public class Scenario {
    interface Work { void run() throws ApiException; }

    static void done(String name) { System.out.println("ok " + name); }

    static void check(boolean value, String what) { if (!value) throw new IllegalStateException(what); }

    static int status(Work work) {
        try {
            work.run();
            return 200;
        } catch (ApiException error) {
            return error.getCode();
        }
    }

    static CategoryApi.APIUpdateCategoryRequest.Builder update(String key, String name) {
        return CategoryApi.APIUpdateCategoryRequest.newBuilder().key(key).categoryPatch(new CategoryPatch().name(name));
    }

    public static void main(String[] arguments) throws Exception {
        ApiClient client = new ApiClient();
        client.updateBaseUri(arguments[0]);
        CategoryApi categories = new CategoryApi(client);
        TransactionsApi transactions = new TransactionsApi(client);
        TransferApi transfer = new TransferApi(client);

        CategoryPage first = categories.listCategory(CategoryApi.APIListCategoryRequest.newBuilder().limit(5L).build());
        check(first.getItems().size() == 5 && first.getItems().get(0).getName() != null, "list");
        done("list");

        List<Long> seen = new ArrayList<>();
        String after = null;
        do {
            CategoryPage page = categories.listCategory(
                CategoryApi.APIListCategoryRequest.newBuilder().limit(7L).after(after).build());
            for (Category one : page.getItems()) seen.add(one.getId());
            after = page.getNext();
        } while (after != null);
        check(seen.size() > 7 && new HashSet<>(seen).size() == seen.size(), "page");
        done("page");

        CategoryPage found = categories.listCategory(
            CategoryApi.APIListCategoryRequest.newBuilder().where("id > $0").args("[3]").sort("-id").count("exact").build());
        long wanted = seen.stream().filter(one -> one > 3).count();
        check(found.getItems().get(0).getId().equals(Collections.max(seen)) && found.getCount() == wanted, "filter");
        done("filter");

        Order order = new OrderApi(client).listOrder(
            OrderApi.APIListOrderRequest.newBuilder().limit(1L).expand("customer").build()).getItems().get(0);
        check(order.getCustomer().getFirstName() != null && order.getItems().get(0).getProduct().get$Link().getKey() != null
            && order.getShipTo().getCity() != null, "expand");
        done("expand");

        Link parent = new Link().$link(new LinkTarget().propertyClass("Category").key("1"));
        Category made = categories.createCategory(CategoryApi.APICreateCategoryRequest.newBuilder()
            .categoryCreate(new CategoryCreate().id(9001L).name("Made").parent(parent)).build());
        check(made.getId() == 9001 && made.getParent().get$Link().getKey().equals("1"), "create");
        done("create");

        String tag = made.get$Meta().getEtag();
        Category changed = categories.updateCategory(update("9001", "Changed").ifMatch(tag).build());
        check(changed.getName().equals("Changed"), "patch");
        done("patch");

        check(status(() -> categories.updateCategory(update("9001", "Lost").ifMatch(tag).build())) == 412, "conflict");
        done("conflict");

        categories.deleteCategory(CategoryApi.APIDeleteCategoryRequest.newBuilder().key("9001").build());
        CategoryApi.APIGetCategoryRequest gone = CategoryApi.APIGetCategoryRequest.newBuilder().key("9001").build();
        check(status(() -> categories.getCategory(gone)) == 404, "delete");
        done("delete");

        Batch batch = new Batch()
            .addOpsItem(new BatchOperation().create(
                new BatchCreate().propertyClass("Category").body(Map.<String, Object>of("id", 9002, "name", "Batch"))))
            .addOpsItem(new BatchOperation().delete(new BatchDelete().propertyClass("Category").key("9002")));
        BatchResult result = new ObjectsApi(client).batch(ObjectsApi.APIBatchRequest.newBuilder().batch(batch).build());
        check(result.getCommitted() && result.getResults().get(0).getKey().equals("9002"), "batch");
        CategoryBatch typed = new CategoryBatch()
            .addOpsItem(new CategoryBatchOperation().create(new CategoryBatchCreate().body(new CategoryCreate().id(9006L).name("Typed"))))
            .addOpsItem(new CategoryBatchOperation().patch(new CategoryBatchPatch().key("9006").body(new CategoryPatch().name("Patched"))));
        CategoryBatchResult patched = categories.batchCategory(CategoryApi.APIBatchCategoryRequest.newBuilder()
            .categoryBatch(typed).prefer("return=representation").build());
        check(patched.getResults().get(1).getObject().getName().equals("Patched"), "batch of a class");
        CategoryBatch removal = new CategoryBatch().addOpsItem(new CategoryBatchOperation().delete(new ClassBatchDelete().key("9006")));
        categories.batchCategory(CategoryApi.APIBatchCategoryRequest.newBuilder().categoryBatch(removal).build());
        done("batch");

        String transaction = transactions.beginTransaction(TransactionsApi.APIBeginTransactionRequest.newBuilder()
            .transactionOptions(new TransactionOptions().idle("5s")).build()).getId();
        categories.createCategory(CategoryApi.APICreateCategoryRequest.newBuilder()
            .categoryCreate(new CategoryCreate().id(9003L).name("Inside")).realmTransaction(transaction).build());
        transactions.commitTransaction(TransactionsApi.APICommitTransactionRequest.newBuilder().id(transaction).build());
        CategoryApi.APIGetCategoryRequest inside = CategoryApi.APIGetCategoryRequest.newBuilder().key("9003").build();
        check(categories.getCategory(inside).getName().equals("Inside"), "transaction");
        done("transaction");

        String since = categories.pollCategory(CategoryApi.APIPollCategoryRequest.newBuilder().since("now").build()).getNext();
        Thread write = new Thread(() -> {
            try {
                Thread.sleep(300);
                categories.updateCategory(update("9003", "Seen").build());
            } catch (InterruptedException | ApiException error) {
                throw new IllegalStateException(error);
            }
        });
        write.start();
        CategoryChanges changes = categories.pollCategory(
            CategoryApi.APIPollCategoryRequest.newBuilder().since(since).waitSeconds(20L).build());
        write.join();
        check(changes.getChanges().get(0).getModifications().get(0).getObject().getName().equals("Seen"), "poll");
        done("poll");

        File file = transfer.exportRealm(TransferApi.APIExportRealmRequest.newBuilder().propertyClass("Category").build());
        check(Files.readAllLines(file.toPath()).size() > seen.size(), "export");
        file.delete();
        done("export");

        Imported imported = transfer.importObjects(TransferApi.APIImportObjectsRequest.newBuilder()
            .requestBody(List.of(Map.<String, Object>of("id", 9003, "name", "Imported"))).mode("upsert")
            .propertyClass("Category").build());
        check(imported.getUpdated() == 1 && categories.getCategory(inside).getName().equals("Imported"), "import");
        categories.deleteCategory(CategoryApi.APIDeleteCategoryRequest.newBuilder().key("9003").build());
        done("import");
    }
}
