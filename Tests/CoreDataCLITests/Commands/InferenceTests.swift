import Foundation
import TestSupport
import Testing

/// Stores whose model nobody has, as those of apps of 2013.
@Suite(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
struct InferenceTests {
    @Test func theErrorOffersToInfer() throws {
        let store = Fixtures.url("recipes/Recipes.sqlite").path
        let run = try CommandRun.coredata("query", store, "Recipe")
        #expect(run.status == 2)
        #expect(
            run.error.contains("--model names it; --infer reads the store without, with a model made of its tables."))
        // What writes or checks needs the true one.
        let verified = try CommandRun.coredata("store", "verify", store)
        #expect(verified.error.contains("--model names it.") && !verified.error.contains("--infer"))
        let copied = try CommandRun.coredata("store", "copy", store, "/nowhere/copy", "--model", store)
        #expect(
            copied.error.contains("keeps no copy of its model") && !copied.error.contains("--infer"), "\(copied.error)")
        #expect(try CommandRun.coredata("import", store, "--entity", "Recipe", "a.json", "--infer").status == 2)
        let drawn = try CommandRun.coredata("model", "graph", store)
        #expect(drawn.error.hasSuffix("--infer makes one of its tables.\n"))
        #expect(try CommandRun.coredata("model", "graph", store, "--infer").output.contains("Ingredient"))
    }

    /// The same objects in the same order, with the same values, as with the true model.
    @Test(
        arguments: Trials.some(
            of: [
                (
                    "recipes/Recipes.sqlite", "recipes/Recipes.xcdatamodeld", "Recipe",
                    "name,overview,prepTime,type.name,image"
                ),
                (
                    "recipes/Recipes.sqlite", "recipes/Recipes.xcdatamodeld", "Ingredient",
                    "name,amount,displayOrder,recipe.type"
                ),
                (
                    "core-data-books/CoreDataBooks.CDBStore", "core-data-books/CoreDataBooks.xcdatamodeld", "Book",
                    "title,copyright"
                ),
                (
                    "surf-journal/SurfJournalModel.sqlite", "surf-journal/SurfJournalModel.xcdatamodeld",
                    "JournalEntry",
                    "date,wind"
                ),
                (
                    "grocery-dude/DefaultData.sqlite", "EXAMPLE", "Item",
                    "name,listed,quantity,unit.name,locationAtShop.aisle"
                ),
                ("grocery-dude/DefaultData.sqlite", "EXAMPLE", "LocationAtHome", "storedIn,summary"),
            ], atLeast: 3))
    func inferredModelsReadWhatTheTrueOneReads(store: String, model: String, entity: String, columns: String) throws {
        let path = Fixtures.url(store).path
        let model = model == "EXAMPLE" ? CommandRun.exampleModel : Fixtures.url(model).path
        func rows(_ options: String...) throws -> [Substring] {
            let run = try CommandRun.run(
                CommandRun.executable(),
                ["query", path, entity, "--select", columns, "--sort", "objectID", "--format", "csv"] + options)
            #expect(run.status == 0, "\(run.error)")
            return run.lines
        }
        let truth = try rows("--model", model)
        let inferred = try rows("--infer")
        #expect(truth.count > 1)
        #expect(truth.dropFirst() == inferred.dropFirst())
    }

    @Test func whatAModelWouldCacheIsReadFromTablesToo() throws {
        let store = try Fixtures.temporaryCopy("bookmarks/Bookmarks_V4.sqlite").path
        let names = "title,isFolder,modifiedAt,parent,favorites"
        let select = ["--select", names, "--sort", "objectID", "--format", "json"]
        let truth = try CommandRun.run(CommandRun.executable(), ["query", store, "BookmarkEntity"] + select)
        let inferred = try CommandRun.run(
            CommandRun.executable(), ["query", store, "BookmarkEntity", "--infer"] + select)
        #expect(
            inferred.output.lowercased() == truth.output.lowercased() && truth.lines.count == 12, "\(inferred.error)")
        // Predicates find keys in any case, and the members of an ordered to-many.
        let found = try CommandRun.coredata(
            "query", store, "BookmarkEntity", "--infer", "--where", "isPendingDeletion == NO AND favorites.@count > 0",
            "--count")
        #expect(found.output == "1\n", "\(found.error)")
    }
}
