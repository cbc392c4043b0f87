import CoreData

/// Lists of a household, with rules of every kind.
enum HubModel {
    static func make() throws -> NSManagedObjectModel {
        let model = try NSManagedObjectModel {
            ModelEntity("List") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("name", .string)
                ModelAttribute("household", .uuid)
                ModelRelationship("items", to: "Item", inverse: "list", .toMany(), deleteRule: .cascade)
                ModelConstraint("id")
            }
            ModelEntity("Item") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("name", .string)
                ModelAttribute("amount", .integer64, default: 0)
                ModelAttribute("note", .string)
                ModelAttribute("remark", .string)
                ModelAttribute("photo", .binaryData)
                ModelRelationship("list", to: "List", inverse: "items")
                ModelRelationship("tags", to: "Tag", inverse: "items", .toMany())
                ModelConstraint("id")
            }
            ModelEntity("Tag") {
                ModelAttribute("id", .uuid).required()
                ModelAttribute("name", .string)
                ModelRelationship("items", to: "Item", inverse: "tags", .toMany())
                ModelConstraint("id")
            }
        }
        let entities = model.entitiesByName
        entities["List"]?.userInfo = [
            "allow.group": "household", "allow.read": "group", "allow.create": "role:owner, role:editor",
            "allow.update": "role:owner, role:editor", "allow.delete": "role:owner",
        ]
        entities["Item"]?.userInfo = [
            "allow.group": "list.household", "allow.read": "group", "allow.create": "role:owner, role:editor",
            "allow.update": "role:owner, role:editor", "allow.delete": "role:owner, role:editor",
        ]
        // Default data: each device has its own, and they are one by their names.
        entities["Tag"]?.userInfo = [
            "allow.read": "anyone", "allow.create": "signedIn", "allow.update": "signedIn", "sync.key": "name",
        ]
        let item = entities["Item"]
        item?.attributesByName["amount"]?.userInfo = ["sync.merge": "sum"]
        item?.attributesByName["note"]?.userInfo = ["sync.merge": "text"]
        item?.attributesByName["remark"]?.userInfo = ["allow.read": "role:owner", "allow.update": "role:owner"]
        return model
    }
}
