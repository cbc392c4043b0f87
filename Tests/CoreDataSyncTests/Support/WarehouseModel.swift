import CoreData

extension ModelMaking {
    /// A model with two uniqueness constraints and all merge rules.
    ///
    /// | Entity | What it is for |
    /// | --- | --- |
    /// | `Product` | `code` identifies, `name` is unique, too |
    /// | `Order` | refers to a product |
    /// | `Box` | `editWins` |
    /// | `Counter` | identified by its name; `count` is a sum, `low` a minimum, `high` a maximum |
    static func warehouse() -> NSManagedObjectModel {
        let product = entity(
            "Product", unique: [["code"], ["name"]], attribute("code"), attribute("name"), attribute("text"),
            toMany("orders"), toMany("labels"))
        let order = entity("Order", attribute("name"), toOne("product"))
        let label = entity("Label", attribute("name"), toMany("products"))
        let box = entity("Box", info: ["sync.delete": "editWins"], attribute("name"), attribute("text"))
        let counter = entity(
            "Counter", info: ["sync.key": "name"], attribute("name"),
            attribute("count", .integer64AttributeType, info: ["sync.merge": "sum"]),
            attribute("low", .doubleAttributeType, info: ["sync.merge": "min"]),
            attribute("high", .doubleAttributeType, info: ["sync.merge": "max"]))
        connect(order, "product", product, "orders")
        connect(label, "products", product, "labels")
        return model(product, order, label, box, counter)
    }
}
