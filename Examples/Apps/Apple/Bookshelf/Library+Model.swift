import CoreData

extension Library {
    /// The model, made in code. Safe because nothing changes it once it is made.
    nonisolated(unsafe) static let model: NSManagedObjectModel = {
        let book = NSEntityDescription()
        book.name = "Book"
        book.managedObjectClassName = NSStringFromClass(Book.self)
        let shelf = NSEntityDescription()
        shelf.name = "Shelf"
        shelf.managedObjectClassName = NSStringFromClass(Shelf.self)

        let colour = attribute(#keyPath(Book.colour), .transformableAttributeType)
        colour.valueTransformerName = "ColourTransformer"
        let books = NSRelationshipDescription()
        books.name = #keyPath(Shelf.books)
        books.destinationEntity = book
        books.isOrdered = true
        books.isOptional = true
        books.deleteRule = .nullifyDeleteRule
        let owner = NSRelationshipDescription()
        owner.name = #keyPath(Book.shelf)
        owner.destinationEntity = shelf
        owner.maxCount = 1
        owner.isOptional = true
        owner.deleteRule = .nullifyDeleteRule
        owner.inverseRelationship = books
        books.inverseRelationship = owner

        book.properties = [
            attribute(#keyPath(Book.title), .stringAttributeType, default: ""),
            attribute(#keyPath(Book.pages), .integer32AttributeType, default: 0),
            attribute("binding", .integer16AttributeType, default: 0),
            attribute(#keyPath(Book.addedOn), .dateAttributeType), colour, owner,
        ]
        shelf.properties = [attribute(#keyPath(Shelf.name), .stringAttributeType), books]
        let model = NSManagedObjectModel()
        model.entities = [book, shelf]
        return model
    }()

    private static func attribute(
        _ name: String, _ type: NSAttributeType, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.defaultValue = value
        return attribute
    }
}
