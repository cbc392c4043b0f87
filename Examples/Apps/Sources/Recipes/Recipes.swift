import CoreData

/// A book of recipes in a file. `Recipes.xcdatamodeld` is all there is to its classes, but for two: ``Ingredient``,
/// whose entity generates nothing, and ``RecipeCategory``, whose entity generates the properties only.
public struct RecipeBook {
    /// The bundle with the models, for code that merges them with others.
    public static var bundle: Bundle { .module }

    public let container: NSPersistentContainer

    public var context: NSManagedObjectContext { container.viewContext }

    /// Opens the book, or begins a new one.
    public init(at url: URL) throws {
        container = NSPersistentContainer(name: "Recipes")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
    }

    /// Every recipe, drinks among them, best first.
    public func recipes() throws -> [Recipe] {
        let request = Recipe.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(keyPath: \Recipe.rating, ascending: false),
            NSSortDescriptor(keyPath: \Recipe.name, ascending: true),
        ]
        return try context.fetch(request)
    }
}
