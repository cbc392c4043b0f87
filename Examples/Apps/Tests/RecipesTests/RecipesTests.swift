import CoreData
import Foundation
import Recipes
import Testing

@MainActor @Suite struct RecipesTests {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent(
        "recipes-\(UUID().uuidString).sqlite")

    private func pancakes(in book: RecipeBook) -> Recipe {
        let recipe = Recipe(context: book.context)
        recipe.name = "Pancakes"
        for text in ["Mix", "Fry", "Eat"] {
            let step = Step(context: book.context)
            step.text = text
            recipe.addToSteps(step)
        }
        return recipe
    }

    private func texts(_ recipe: Recipe) -> [String?] { (recipe.steps?.array as? [Step] ?? []).map(\.text) }

    @Test func everyKindOfAttributeIsKept() throws {
        let id = UUID()
        let created = Date(timeIntervalSinceReferenceDate: 700_000_000)
        do {
            let book = try RecipeBook(at: url)
            let recipe = Recipe(context: book.context)
            #expect(recipe.servings == 2 && recipe.difficulty == 1 && recipe.cost == 0, "defaults of the model")
            #expect(recipe.name == nil && recipe.calories == nil)
            recipe.name = "Soup"
            recipe.id = id
            recipe.createdAt = created
            recipe.servings = 4
            recipe.difficulty = 70_000
            recipe.calories = NSNumber(value: Int64(5_000_000_000))
            recipe.cost = NSDecimalNumber(string: "12.35")
            recipe.rating = 4.5
            recipe.weight = 0.25
            recipe.isFavorite = true
            recipe.lastCooked = 86_400
            recipe.link = URL(string: "https://example.org/soup")
            recipe.photo = Data([1, 2, 3])
            recipe.keywords = ["warm", "winter"]
            recipe.draft = "not kept"
            recipe.addToSteps(Step(context: book.context))
            let cook = Cook(context: book.context)
            cook.name = "Ada"
            cook.default = true
            try book.context.save()
        }
        let book = try RecipeBook(at: url)
        let recipe = try #require(try book.recipes().first)
        #expect(recipe.name == "Soup" && recipe.id == id && recipe.createdAt == created)
        #expect(recipe.servings == 4 && recipe.difficulty == 70_000 && recipe.calories == 5_000_000_000)
        #expect(recipe.cost == NSDecimalNumber(string: "12.35"))
        #expect(recipe.rating == 4.5 && recipe.weight == 0.25 && recipe.isFavorite && recipe.lastCooked == 86_400)
        #expect(recipe.link?.host == "example.org" && recipe.photo == Data([1, 2, 3]))
        #expect(recipe.keywords == ["warm", "winter"] && recipe.draft == nil && recipe.stepCount == 1)
        #expect(try book.context.fetch(Cook.fetchRequest()).first?.default == true)
    }

    @Test func stepsKeepTheirOrder() throws {
        do {
            let book = try RecipeBook(at: url)
            let recipe = pancakes(in: book)
            let wait = Step(context: book.context)
            wait.text = "Wait"
            recipe.insertIntoSteps(wait, at: 1)
            #expect(texts(recipe) == ["Mix", "Wait", "Fry", "Eat"] && wait.recipe === recipe)
            recipe.removeFromSteps(at: 3)
            let flip = Step(context: book.context)
            flip.text = "Flip"
            recipe.insertIntoSteps([flip], at: NSIndexSet(index: 3))
            let whisk = Step(context: book.context)
            whisk.text = "Whisk"
            recipe.replaceSteps(at: 0, with: whisk)
            try book.context.save()
        }
        let book = try RecipeBook(at: url)
        let recipe = try #require(try book.recipes().first)
        #expect(texts(recipe) == ["Whisk", "Wait", "Fry", "Flip"])
    }

    @Test func bothSidesOfRelationshipsFollow() throws {
        let book = try RecipeBook(at: url)
        let recipe = pancakes(in: book)
        let breakfast = RecipeCategory(context: book.context)
        #expect(breakfast.heading == "UNTITLED")
        breakfast.title = "Breakfast"
        let sweet = RecipeCategory(context: book.context)
        sweet.title = "Sweet"
        recipe.addToCategories(NSSet(array: [breakfast, sweet]))
        #expect(recipe.categories?.count == 2 && breakfast.recipes?.contains(recipe) == true)
        sweet.removeFromRecipes(recipe)
        #expect(recipe.categories as? Set<RecipeCategory> == [breakfast])

        let flour = Ingredient(context: book.context)
        flour.name = "Flour"
        flour.recipe = recipe
        #expect((recipe.ingredients?.anyObject() as? Ingredient)?.name == "Flour")
        recipe.removeFromIngredients(flour)
        #expect(flour.recipe == nil)
        recipe.categories = nil
        #expect(breakfast.recipes?.count == 0)
    }

    @Test func subclassesAreFetchedAndSortedByKeyPath() throws {
        let book = try RecipeBook(at: url)
        for (name, author, rating) in [("Bread", "Cleo", 3.0), ("Curry", "Ada", 5), ("Apple pie", "Bo", 5)] {
            let recipe = Recipe(context: book.context)
            recipe.name = name
            recipe.rating = rating
            recipe.author = Cook(context: book.context)
            recipe.author?.name = author
        }
        let cocoa = Drink(context: book.context)
        cocoa.name = "Cocoa"
        cocoa.isHot = true
        cocoa.author = Cook(context: book.context)
        cocoa.author?.name = "Dan"
        try book.context.save()
        #expect(try book.recipes().map(\.name) == ["Apple pie", "Curry", "Bread", "Cocoa"])

        let byAuthor = Recipe.fetchRequest()
        byAuthor.sortDescriptors = [NSSortDescriptor(keyPath: \Recipe.author?.name, ascending: true)]
        #expect(try book.context.fetch(byAuthor).map(\.name) == ["Curry", "Apple pie", "Bread", "Cocoa"])
        let drinks = Drink.fetchRequest()
        drinks.sortDescriptors = [
            NSSortDescriptor(keyPath: \Drink.author?.name, ascending: true),
            NSSortDescriptor(keyPath: \Drink.name, ascending: true),
            NSSortDescriptor(keyPath: \Drink.isHot, ascending: false),
        ]
        #expect(drinks.sortDescriptors?.map(\.key) == ["author.name", "name", "isHot"])
        #expect(try book.context.fetch(drinks).map(\.isHot) == [true])
        #expect(NSExpression(forKeyPath: \Step.recipe?.name).keyPath == "recipe.name")
    }

    @Test func fetchedPropertiesAndTemplatesAreAnswered() throws {
        let book = try RecipeBook(at: url)
        let dear = pancakes(in: book)
        dear.cost = 10
        let cheap = Recipe(context: book.context)
        cheap.name = "Toast"
        cheap.cost = 1
        let step = Step(context: book.context)
        step.minutes = 3
        cheap.addToSteps(step)
        for step in dear.steps ?? [] { (step as? Step)?.minutes = 20 }
        try book.context.save()
        #expect(dear.cheaper.map(\.name) == ["Toast"] && cheap.cheaper.isEmpty)
        let quick = book.container.managedObjectModel.fetchRequestFromTemplate(
            withName: "quick", substitutionVariables: ["MINUTES": 5])
        let found = try book.context.fetch(try #require(quick))
        #expect(found.compactMap { ($0 as? Recipe)?.name } == ["Toast"])
    }

    @Test func recipesAreIdentifiable() throws {
        let book = try RecipeBook(at: url)
        func identity(_ thing: some Identifiable) -> AnyHashable { thing.id }
        let recipe = pancakes(in: book)
        recipe.id = UUID()
        #expect(identity(recipe) == AnyHashable(recipe.id))
        let step = Step(context: book.context)
        #expect(identity(step) == AnyHashable(ObjectIdentifier(step)))
    }

    @Test func modelsOfABundleAreMerged() throws {
        let model = try #require(NSManagedObjectModel.mergedModel(from: [RecipeBook.bundle]))
        #expect(model.entitiesByName["PantryItem"]?.managedObjectClassName == "Recipes.PantryItem")
        #expect(model.entitiesByName["Category"]?.managedObjectClassName == "Recipes.RecipeCategory")
        #expect(model.entitiesByName["Recipe"]?.attributesByName["rating"] != nil, "the current version")
        let container = NSPersistentContainer(name: "Everything", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        container.loadPersistentStores { #expect($1 == nil) }
        let item = PantryItem(context: container.viewContext)
        item.name = "Rice"
        item.amount = 2
        try container.viewContext.save()
        #expect(try container.viewContext.fetch(PantryItem.fetchRequest()).first?.amount == 2)
    }

    @Test func theOldVersionIsThereForStoresOfIt() throws {
        let compiled = try #require(RecipeBook.bundle.url(forResource: "Recipes", withExtension: "momd"))
        #expect(try NSManagedObjectModel.versionNames(at: compiled) == ["Recipes", "Recipes 2"])
        let old = try NSManagedObjectModel.load(contentsOf: compiled, version: "Recipes")
        #expect(old.entitiesByName.keys.sorted() == ["Entry", "Ingredient", "Recipe", "Step"])
        #expect(old.versionIdentifiers == ["1"])
    }
}
