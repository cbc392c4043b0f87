import CoreData

/// What goes into a recipe. Written by hand: the entity's Codegen is Manual/None.
public final class Ingredient: NSManagedObject {
    private static let nameKey = PropertyKey<String?>("name")
    private static let quantityKey = PropertyKey<Double>("quantity")
    private static let recipeKey = PropertyKey<Recipe?>("recipe")

    public var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }

    public var quantity: Double {
        get { self[Self.quantityKey] }
        set { self[Self.quantityKey] = newValue }
    }

    public var recipe: Recipe? {
        get { self[Self.recipeKey] }
        set { self[Self.recipeKey] = newValue }
    }
}
