import CoreData
import Foundation

/// A model with every kind of property that a service serves.
enum StoreModel {
    private static let open = [
        "allow.read": "signedIn", "allow.create": "signedIn", "allow.update": "signedIn", "allow.delete": "signedIn",
    ]
    private static let own = [
        "allow.read": "owner", "allow.create": "owner", "allow.update": "owner", "allow.delete": "owner",
        "allow.owner": "owner",
    ]

    static func make() throws -> NSManagedObjectModel {
        try NSManagedObjectModel {
            ModelEntity("Item") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("name", .string).required().maximumLength(40)
                ModelAttribute("price", .decimal)
                ModelAttribute("quantity", .double).minimum(0)
                ModelAttribute("weight", .float)
                ModelAttribute("listed", .boolean, default: false).required()
                ModelAttribute("day", .date)
                ModelAttribute("stock", .integer32)
                ModelAttribute("code", .uuid)
                ModelAttribute("site", .uri)
                ModelAttribute("data", .binaryData)
                ModelAttribute("photo", .binaryData).storedExternally()
                ModelAttribute("modified", .date)
                ModelAttribute("folded", .string, derivedFrom: "lowercase:(name)")
                ModelRelationship("unit", to: "Unit", inverse: "items")
                ModelRelationship("tags", to: "Tag", inverse: "items", .toMany(ordered: true))
                ModelRelationship("list", to: "List", inverse: "items")
                ModelConstraint("id")
            }.userInfo(open)
            ModelEntity("Drink", parent: "Item") {
                ModelAttribute("strength", .double)
            }.userInfo(open)
            ModelEntity("Unit") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("name", .string).required()
                ModelRelationship("items", to: "Item", inverse: "unit", .toMany(), deleteRule: .deny)
                ModelConstraint("id")
                ModelConstraint("name")
            }.userInfo(open).userInfo(["sync.id": "id", "allow.read": "anyone"])
            ModelEntity("Tag") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("name", .string).required()
                ModelRelationship("items", to: "Item", inverse: "tags", .toMany())
                ModelConstraint("id")
            }.userInfo(open)
            ModelEntity("List") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("name", .string).required()
                ModelRelationship("items", to: "Item", inverse: "list", .toMany(), deleteRule: .cascade)
                ModelConstraint("id")
            }.userInfo(open)
            ModelEntity("Note") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("owner", .uuid).required()
                ModelAttribute("text", .string).required()
                ModelConstraint("id")
            }.userInfo(own)
        }
    }
}
