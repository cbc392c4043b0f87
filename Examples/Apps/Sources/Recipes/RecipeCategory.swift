import CoreData

/// A chapter of the book. The entity's Codegen is Category/Extension: its properties are generated.
public class RecipeCategory: NSManagedObject {
    /// What stands above the chapter, however its title is written.
    public var heading: String { (title ?? "Other").uppercased() }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        title = "Untitled"
    }
}
